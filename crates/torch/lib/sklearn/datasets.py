"""Data sets that are made by a formula, and two small ones that were measured."""

import numpy as np
from sklearn.utils import check_random_state, shuffle as _shuffled

# R. A. Fisher, "The use of multiple measurements in taxonomic problems", 1936: lengths in millimetres, each a character from "(" on.
_IRIS = (
    '[K6*YF6*WH5*VG7*ZL6*^O9,VJ6+ZJ7*TE6*YG7)^M7*XJ8*XF6)SF3)bP4*aT7,^O5,[K6+aN9+[N7+^J9*[M7,VL2*[I9-XJ;*'
    'ZF8*ZJ8,\\K7*\\J6*WH8*XG8*^J7,\\Q7)_R6*YG7*ZH4*_K5*YL6)TF5*[J7*ZK5+U?5+TH5*ZK8.[N;,XF6+[N8*VH6*]M7*ZI6*'
    'nHW6hHU7mGY7_?P5iDV7aDU5gIW8Y@I2jEV5\\CO6Z<K2cFR7d>P2eEW6`EL5kGT6`FU7bCQ2f>U7`AO3cHX:eDP5gAY7eDW4hES5'
    'jFT6lDX6kFZ9dEU7aBK2_@N3_@M2bCO4dC[8^FU7dJU8kGW7g?T5`FQ5_AP5_BT4eFV6bBP4Z?I2`CR5aFR4aER5fES5[AF3aDQ5'
    'gIdAbC[;oFc=gE`:iFb>tFj=YAU9qEg:kAb:pLeAiH[<hC];lF_=aAZ<bD[@hH]?iF_:uNk>uBm?d>Z7mHa?`DY<uDk<gCY:kIa='
    'pHd:fDX:eFY:hD`=pFb8rDe;wNh<hD`>gD[7eB`6uFe?gJ`@hG_:dFX:mG^=kG`@mG[?bC[;lHc?kIaAkF\\?gAZ;iF\\<fJ^?cF[:'
)


class Bunch(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _given(bunch, return_X_y):
    return (bunch.data, bunch.target) if return_X_y else bunch


def load_iris(*, return_X_y=False, as_frame=False):
    data = np.array([ord(c) - 40 for c in _IRIS], np.float64).reshape(150, 4) / 10
    names = ["sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)"]
    target = np.repeat(np.arange(3), 50)
    return _given(Bunch(data=data, target=target, feature_names=names, target_names=["setosa", "versicolor", "virginica"]),
                  return_X_y)


def load_digits(*, n_class=10, return_X_y=False, as_frame=False):
    import _digits
    from torch import _C
    columns = np.frombuffer(_C.digits(_digits.text), np.uint8).reshape(65, -1).transpose()
    kept = columns[columns[:, 64] < n_class]
    data = kept[:, :64].astype(np.float64)
    bunch = Bunch(data=data, target=kept[:, 64].astype(np.int64), images=data.reshape(-1, 8, 8), target_names=np.arange(n_class))
    return _given(bunch, return_X_y)


def _two(x, y, shuffle, noise, generator):
    if shuffle:
        x, y = _shuffled(x, y, random_state=generator)
    if noise is not None:
        x = x + generator.normal(scale=noise, size=x.shape)
    return x, y


def _parts(n_samples):
    return (n_samples // 2, n_samples - n_samples // 2) if isinstance(n_samples, int) else tuple(n_samples)


def make_moons(n_samples=100, *, shuffle=True, noise=None, random_state=None):
    outer, inner = _parts(n_samples)
    a, b = np.linspace(0, np.pi, outer), np.linspace(0, np.pi, inner)
    x = np.stack([np.concatenate([np.cos(a), 1 - np.cos(b)]), np.concatenate([np.sin(a), 1 - np.sin(b) - 0.5])], 1)
    y = np.concatenate([np.zeros(outer, np.int64), np.ones(inner, np.int64)])
    return _two(x, y, shuffle, noise, check_random_state(random_state))


def make_circles(n_samples=100, *, shuffle=True, noise=None, random_state=None, factor=0.8):
    if not 0 <= factor < 1:
        raise ValueError(f"The 'factor' parameter of make_circles must be a float in the range [0.0, 1.0). Got {factor} instead.")
    outer, inner = _parts(n_samples)
    a = np.arange(outer) * (2 * np.pi / outer)
    b = np.arange(inner) * (2 * np.pi / inner)
    x = np.stack([np.concatenate([np.cos(a), np.cos(b) * factor]), np.concatenate([np.sin(a), np.sin(b) * factor])], 1)
    y = np.concatenate([np.zeros(outer, np.int64), np.ones(inner, np.int64)])
    return _two(x, y, shuffle, noise, check_random_state(random_state))


def make_blobs(n_samples=100, n_features=2, *, centers=None, cluster_std=1.0, center_box=(-10.0, 10.0), shuffle=True, random_state=None,
               return_centers=False):
    generator = check_random_state(random_state)
    if centers is None or isinstance(centers, int):
        n = centers or (3 if isinstance(n_samples, int) else len(n_samples))
        centers = generator.uniform(center_box[0], center_box[1], size=(n, n_features))
    centers = np.array(centers)
    n, n_features = centers.shape
    each = [n_samples // n + (i < n_samples % n) for i in range(n)] if isinstance(n_samples, int) else list(n_samples)
    spread = [cluster_std] * n if isinstance(cluster_std, (int, float)) else list(cluster_std)
    x = np.concatenate([generator.normal(loc=centers[i], scale=spread[i], size=(each[i], n_features)) for i in range(n)])
    y = np.concatenate([np.full(each[i], i, np.int64) for i in range(n)])
    if shuffle:
        x, y = _shuffled(x, y, random_state=generator)
    return (x, y, centers) if return_centers else (x, y)


def make_regression(n_samples=100, n_features=100, *, n_informative=10, n_targets=1, bias=0.0, noise=0.0, shuffle=True, coef=False,
                    random_state=None):
    generator = check_random_state(random_state)
    n_informative = min(n_features, n_informative)
    x = generator.standard_normal(size=(n_samples, n_features))
    truth = np.zeros((n_features, n_targets))
    truth[:n_informative] = 100 * generator.uniform(size=(n_informative, n_targets))
    y = x @ truth + bias
    if noise > 0.0:
        y = y + generator.normal(scale=noise, size=y.shape)
    if shuffle:
        x, y = _shuffled(x, y, random_state=generator)
        indices = np.arange(n_features)
        generator.shuffle(indices)
        x, truth = x[:, indices], truth[indices]
    y, truth = (y.reshape(-1), truth.reshape(-1)) if n_targets == 1 else (y, truth)
    return (x, y, truth) if coef else (x, y)
