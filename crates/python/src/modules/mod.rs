//! Modules of the standard library: natives, and the texts of those in Python.

pub mod apart;
pub mod files;
mod frames;
pub(crate) mod math;
pub(crate) mod random;
mod re;
mod sys;
pub(crate) mod time;

use crate::vm::Vm;
use apart::{APART, Text, VERSION};

macro_rules! sources {
    ($($name:literal: $file:literal),* $(,)?) => {
        /// Modules in Python with their names.
        pub const SOURCES: &[(&str, Text)] =
            &[$(($name, apart::place($name, include_str!(concat!(env!("OUT_DIR"), "/lib/", $file)), APART, VERSION))),*];
    };
}

sources! {
    "_sys": "_sys.py", "_text_above": "_text_above.py", "__future__": "__future__.py", "abc": "abc.py", "argparse": "argparse.py", "array": "array.py", "ast": "ast.py", "atexit": "atexit.py", "base64": "base64.py", "bisect": "bisect.py", "calendar": "calendar.py", "cmath": "cmath.py", "collections": "collections/__init__.py", "colorsys": "colorsys.py",
    "collections._user": "collections/_user.py", "collections.abc": "collections/abc.py", "concurrent": "concurrent/__init__.py", "concurrent.futures": "concurrent/futures.py",
    "configparser": "configparser.py", "contextlib": "contextlib.py", "copyreg": "copyreg.py", "copy": "copy.py", "csv": "csv.py",
    "dataclasses": "dataclasses.py", "datetime": "datetime.py", "decimal": "decimal.py", "_decimal_context": "_decimal_context.py", "difflib": "difflib.py", "enum": "enum.py", "errno": "errno.py", "fnmatch": "fnmatch.py", "fractions": "fractions.py",
    "functools": "functools.py", "gc": "gc.py", "getpass": "getpass.py", "glob": "glob.py", "hashlib": "hashlib.py", "heapq": "heapq.py", "html": "html.py", "http": "http/__init__.py", "http.client": "http/client.py",
    "importlib": "importlib/__init__.py", "importlib.metadata": "importlib/metadata.py", "importlib.resources": "importlib/resources.py", "importlib.util": "importlib/util.py", "pkgutil": "pkgutil.py",
    "inspect": "inspect.py", "io": "io.py", "itertools": "itertools.py", "json": "json/__init__.py", "json.decoder": "json/decoder.py", "json.encoder": "json/encoder.py", "keyword": "keyword.py", "logging": "logging/__init__.py", "logging.config": "logging/config.py", "logging.handlers": "logging/handlers.py",
    "multiprocessing": "multiprocessing.py", "numbers": "numbers.py", "operator": "operator.py", "os": "os.py", "pathlib": "pathlib.py", "platform": "platform.py",
    "posixpath": "posixpath.py", "pprint": "pprint.py", "queue": "queue.py", "random": "random.py", "re": "re.py", "secrets": "secrets.py", "shlex": "shlex.py", "socket": "socket.py", "shutil": "shutil.py",
    "signal": "signal.py", "statistics": "statistics.py", "string": "string.py", "struct": "struct.py", "subprocess": "subprocess.py",
    "tempfile": "tempfile.py", "textwrap": "textwrap.py",
    "threading": "threading.py", "tomllib": "tomllib.py", "time": "time.py", "timeit": "timeit.py", "traceback": "traceback.py", "types": "types.py", "typing": "typing.py",
    "typing_extensions": "typing_extensions.py", "unicodedata": "unicodedata.py", "unittest": "unittest/__init__.py", "unittest._calls": "unittest/_calls.py", "unittest.mock": "unittest/mock.py",
    "urllib": "urllib/__init__.py", "urllib.error": "urllib/error.py", "urllib.parse": "urllib/parse.py", "urllib.request": "urllib/request.py", "uuid": "uuid.py",
    "cProfile": "cProfile.py", "faulthandler": "faulthandler.py", "getopt": "getopt.py", "gettext": "gettext.py", "hmac": "hmac.py", "linecache": "linecache.py",
    "locale": "locale.py", "pstats": "pstats.py", "resource": "resource.py", "tracemalloc": "tracemalloc.py",
    "warnings": "warnings.py", "weakref": "weakref.py",
}

/// Makes all modules known; one is run when it is imported first.
pub(crate) fn install(vm: &mut Vm) {
    for (name, text) in SOURCES {
        vm.place_python_module(name, text.clone());
    }
    vm.add_python_module(
        "__future__",
        "annotations = division = print_function = absolute_import = unicode_literals = generator_stop = True\n",
    );
    vm.add_python_module("_open", include_str!(concat!(env!("OUT_DIR"), "/src/modules/files.py")));
    vm.add_native_module("_files", files::init);
    vm.add_native_module("_frames", frames::init);
    vm.add_native_module("_random", random::init);
    vm.add_native_module("_re", re::init);
    vm.add_native_module("_time", time::init);
    vm.add_native_module("math", math::init);
    vm.add_native_module("sys", sys::init);
}
