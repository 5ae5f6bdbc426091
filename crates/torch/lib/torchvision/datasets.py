"""torchvision.datasets from files that the user has: nothing is downloaded. The UCI digits ship with the project."""

import _missing
from torch import _C
from torch.utils.data import Dataset
from PIL.Image import Image
import numpy as np
import os
import torch

_OFFER = ("Nothing is downloaded here. torchvision.datasets.UCIDigits(train=.., transform=..) ships with the project: 1,797 handwritten "
          "digits of 8 by 8 pixels")


class VisionDataset(Dataset):
    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root, self.transform, self.target_transform = root, transform, target_transform

    def __getitem__(self, index):
        image, target = Image(self._image(index)), int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def __len__(self):
        return len(self.targets)

    def __repr__(self):
        lines = [f"Dataset {type(self).__name__}", f"    Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"    Root location: {self.root}")
        if self.transform is not None:
            lines.append("    StandardTransform\nTransform: " + repr(self.transform))
        return "\n".join(lines)


def _idx(folder, name):
    """A file of the format that LeCun's site describes, as it is or packed by gzip."""
    for path in (os.path.join(folder, name), os.path.join(folder, name + ".gz")):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read()
            data = _C.unpack(data, "gzip") if path.endswith(".gz") else data
            if len(data) < 4 or data[0] != 0 or data[2] != 8:
                raise RuntimeError(f"{path} is no file of images or labels")
            rank = data[3]
            shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(rank)]
            return np.frombuffer(data[4 + 4 * rank:], np.uint8).reshape(shape)
    return None


class MNIST(VisionDataset):
    classes = ["0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine"]

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, None, transform, target_transform)
        self.train = train
        part = "train" if train else "t10k"
        folder = os.path.join(str(root), type(self).__name__, "raw")
        for place in (folder, str(root)):
            images, labels = _idx(place, f"{part}-images-idx3-ubyte"), _idx(place, f"{part}-labels-idx1-ubyte")
            if images is not None and labels is not None:
                break
        else:
            raise RuntimeError(
                f"Dataset not found. Put {part}-images-idx3-ubyte and {part}-labels-idx1-ubyte (or their .gz) into {folder}. {_OFFER}")
        self._images = images
        self.data, self.targets = torch.from_numpy(images), torch.from_numpy(labels).to(torch.int64)
        self._labels = labels

    def _image(self, index):
        return self._images[index]

    def __getitem__(self, index):
        image, target = Image(self._images[index]), int(self._labels[index])
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)


class FashionMNIST(MNIST):
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


class KMNIST(MNIST):
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class CIFAR10(VisionDataset):
    classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    _from = ("CIFAR-10", "cifar-10-batches-bin", [f"data_batch_{i}.bin" for i in range(1, 6)], ["test_batch.bin"], 1)

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, None, transform, target_transform)
        self.train = train
        title, folder, *names, labels = self._from
        folder = os.path.join(str(root), folder)
        rows = []
        for name in names[not train]:
            path = os.path.join(folder, name)
            if not os.path.isfile(path):
                raise RuntimeError(
                    f"Dataset not found or corrupted. Put the binary version of {title} ({name} and so on) into {folder}. {_OFFER}")
            with open(path, "rb") as file:
                rows.append(np.frombuffer(file.read(), np.uint8).reshape(-1, 3072 + labels))
        rows = np.concatenate(rows)
        self.targets = rows[:, labels - 1].tolist()
        self.data = rows[:, labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    def _image(self, index):
        return self.data[index]


class CIFAR100(CIFAR10):
    # The binary version has a coarse and a fine label for each image; names are in a file beside it.
    classes = [str(i) for i in range(100)]
    _from = ("CIFAR-100", "cifar-100-binary", ["train.bin"], ["test.bin"], 2)

    def __init__(self, root, *args, **kwargs):
        names = os.path.join(str(root), "cifar-100-binary", "fine_label_names.txt")
        if os.path.isfile(names):
            with open(names) as file:
                self.classes = file.read().split()
        super().__init__(root, *args, **kwargs)


class UCIDigits(VisionDataset):
    """Handwritten digits of 8 by 8 pixels (E. Alpaydin and C. Kaynak, 1998); every fifth is held out."""

    classes = [str(d) for d in range(10)]

    def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, None, transform, target_transform)
        self.train = train
        import _digits
        rows = np.frombuffer(_C.digits(_digits.text), np.uint8).reshape(65, -1).transpose().astype(np.int64)
        rows = rows[[i for i in range(len(rows)) if (i % 5 == 4) != train]]
        # Sixteen shades as bytes.
        self._images = (rows[:, :64] * 255 // 16).astype(np.uint8).reshape(-1, 8, 8)
        self._labels = rows[:, 64]
        self.data, self.targets = torch.from_numpy(self._images), torch.from_numpy(self._labels)

    _image = MNIST._image
    __getitem__ = MNIST.__getitem__


IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def default_loader(path):
    from PIL import Image as images
    return images.open(path).convert("RGB")


class DatasetFolder(VisionDataset):
    """Files in a folder for each class."""

    def __init__(self, root, loader, extensions=None, transform=None, target_transform=None, is_valid_file=None, allow_empty=False):
        super().__init__(root, None, transform, target_transform)
        self.classes, self.class_to_idx = self.find_classes(str(root))
        good = is_valid_file or (lambda path: path.lower().endswith(tuple(extensions)))
        self.loader, self.extensions, self.samples = loader, extensions, []
        empty = []
        for name in self.classes:
            before = len(self.samples)
            for folder, _, files in sorted(os.walk(os.path.join(str(root), name))):
                paths = [os.path.join(folder, file) for file in sorted(files)]
                self.samples += [(path, self.class_to_idx[name]) for path in paths if good(path)]
            if len(self.samples) == before:
                empty.append(name)
        if empty and not allow_empty:
            msg = f"Found no valid file for the classes {', '.join(empty)}. "
            if extensions is not None:
                msg += f"Supported extensions are: {', '.join(extensions)}"
            raise FileNotFoundError(msg)
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def find_classes(directory):
        classes = sorted([name for name in os.listdir(directory) if os.path.isdir(os.path.join(directory, name))])
        if not classes:
            raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
        return classes, {name: i for i, name in enumerate(classes)}

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        return sample, target if self.target_transform is None else self.target_transform(target)


class ImageFolder(DatasetFolder):
    def __init__(self, root, transform=None, target_transform=None, loader=default_loader, is_valid_file=None, allow_empty=False):
        super().__init__(root, loader, IMG_EXTENSIONS if is_valid_file is None else None, transform, target_transform, is_valid_file,
                         allow_empty)
        self.imgs = self.samples


class FakeData(VisionDataset):
    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None, random_offset=0):
        super().__init__(None, None, transform, target_transform)
        self.size, self.image_size, self.num_classes, self.random_offset = size, image_size, num_classes, random_offset

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        from torchvision.transforms import functional
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        state = torch.get_rng_state()
        torch.manual_seed(index + self.random_offset)
        image = torch.randn(*self.image_size)
        target = torch.randint(0, self.num_classes, size=(1,), dtype=torch.long)[0]
        torch.set_rng_state(state)
        image = functional.to_pil_image(image)
        if self.transform is not None:
            image = self.transform(image)
        target = target if self.target_transform is None else self.target_transform(target)
        return image, target.item()


_absent = _missing.names("torchvision.datasets", globals())
# What packages import at their heads: sets that are not read here.
_OTHERS = """Caltech101 Caltech256 CelebA Cityscapes CocoCaptions CocoDetection DTD EuroSAT FER2013 FGVCAircraft Flickr8k Flickr30k Flowers102 Food101
GTSRB HMDB51 ImageNet INaturalist Kinetics LFWPairs LFWPeople LSUN Omniglot OxfordIIITPet PCAM Places365 RenderedSST2 SBU SEMEION STL10 SUN397 SVHN
StanfordCars UCF101 USPS VOCDetection VOCSegmentation WIDERFace""".split()


def __getattr__(name):
    if name in _OTHERS:
        import _named
        return _named.name("torchvision.datasets", name)
    return _absent(name)
