"""Augmentations that turn, shear, erase and recolour: functions and transforms."""

from torchvision.transforms import InterpolationMode, _Transform, functional as F
from torchvision.transforms.functional import _on
import math
import random
import torch

__all__ = """RandomRotation RandomAffine RandomErasing RandomChoice RandomOrder FiveCrop RandomInvert RandomSolarize RandomPosterize
RandomAutocontrast RandomAdjustSharpness""".split()
FUNCTIONS = """rotate affine adjust_hue adjust_gamma invert solarize posterize autocontrast adjust_sharpness five_crop resized_crop
get_dimensions""".split()


def _mode(interpolation):
    return getattr(interpolation, "value", interpolation)


def _inverse(angle, translate, scale, shear):
    """Where an element of the result comes from, about the middle of the image."""
    turn, (sx, sy) = math.radians(angle), [math.radians(s) for s in shear]
    a, c = math.cos(turn - sy) / math.cos(sy), math.sin(turn - sy) / math.cos(sy)
    b, d = -a * math.tan(sx) - math.sin(turn), -c * math.tan(sx) + math.cos(turn)
    m = [v / scale for v in (d, -b, 0.0, -c, a, 0.0)]
    m[2], m[5] = -m[0] * translate[0] - m[1] * translate[1], -m[3] * translate[0] - m[4] * translate[1]
    return m


def _moved(img, matrix, interpolation, fill):
    def run(x):
        h, w = x.shape[-2:]
        kind, mode = x.dtype, _mode(interpolation)
        x = (x if x.dim() > 3 else x.unsqueeze(0)).to(torch.float32)
        across = torch.linspace(-w * 0.5 + 0.5, w * 0.5 - 0.5, w).expand(h, w)
        down = torch.linspace(-h * 0.5 + 0.5, h * 0.5 - 0.5, h).unsqueeze(-1).expand(h, w)
        base = torch.stack([across, down, torch.ones(h, w)], -1).reshape(1, h * w, 3)
        grid = base.bmm(torch.tensor(matrix).reshape(1, 2, 3).transpose(1, 2) / torch.tensor([0.5 * w, 0.5 * h])).reshape(1, h, w, 2)
        whole = torch.cat([x, torch.ones_like(x[:, :1])], 1)
        made = torch.nn.functional.grid_sample(whole, grid.expand(len(x), h, w, 2), mode=mode, padding_mode="zeros", align_corners=False)
        made, inside = made[:, :-1], made[:, -1:]
        behind = torch.tensor([float(v) for v in (fill if isinstance(fill, (list, tuple)) else [fill or 0])]).reshape(1, -1, 1, 1).expand(made.shape)
        made = torch.where(inside < 0.5, behind, made) if mode == "nearest" else made * inside + (1.0 - inside) * behind
        made = made if kind.is_floating_point else made.round()
        return made.to(kind).reshape(img.shape if isinstance(img, torch.Tensor) else made.shape[1:])
    return _on(img, run)


def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    if expand or center is not None:
        raise NotImplementedError("rotate with expand or center")
    return _moved(img, _inverse(-angle, (0.0, 0.0), 1.0, (0.0, 0.0)), interpolation, fill)


def affine(img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    shear = [shear, 0.0] if isinstance(shear, (int, float)) else list(shear) * (3 - len(shear))
    return _moved(img, _inverse(angle, translate, scale, shear), interpolation, fill)


def _most(x):
    return 1 if x.dtype.is_floating_point else 255


def adjust_hue(img, hue_factor):
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")

    def run(x):
        if x.shape[-3] == 1:
            return x
        kind, x = x.dtype, x.to(torch.float32) / _most(x)
        r, g, b = x.unbind(-3)
        most, least = x.max(-3)[0], x.min(-3)[0]
        apart, same = most - least, most == least
        one = torch.ones_like(most)
        share = torch.where(same, one, apart)
        rc, gc, bc = [(most - c) / share for c in (r, g, b)]
        h = (most == r) * (bc - gc) + ((most == g) & (most != r)) * (2.0 + rc - bc) + ((most != g) & (most != r)) * (4.0 + gc - rc)
        h = (torch.fmod(h / 6.0 + 1.0, 1.0) + hue_factor) % 1.0
        s = apart / torch.where(same, one, most)
        i = torch.floor(h * 6.0)
        f = h * 6.0 - i
        p, q, t = [torch.clamp(most * (1.0 - s * k), 0.0, 1.0) for k in (one, f, 1.0 - f)]
        chosen = (i.to(torch.int32) % 6).unsqueeze(-3) == torch.arange(6).view(-1, 1, 1)
        parts = [torch.stack(c, -3) for c in ((most, q, p, p, t, most), (t, most, most, q, p, p), (p, p, t, most, most, q))]
        made = torch.stack([(chosen * c).sum(-3) for c in parts], -3)
        return made if kind.is_floating_point else (made * 255.999).to(kind)
    return _on(img, run)


def adjust_gamma(img, gamma, gain=1):
    return _on(img, lambda x: ((gain * (x.to(torch.float32) / _most(x)) ** gamma).clamp(0, 1) * (_most(x) if _most(x) == 1 else 255.999)).to(x.dtype))


def invert(img):
    return _on(img, lambda x: _most(x) - x)


def solarize(img, threshold):
    return _on(img, lambda x: torch.where(x >= threshold, _most(x) - x, x))


def posterize(img, bits):
    return _on(img, lambda x: x & (256 - 2 ** (8 - bits)))


def autocontrast(img):
    def run(x):
        low, high = [e.to(torch.float32) for e in (x.amin((-2, -1), keepdim=True), x.amax((-2, -1), keepdim=True))]
        flat = low == high
        scale = torch.where(flat, 1.0, _most(x) / torch.where(flat, 1.0, high - low))
        return ((x - torch.where(flat, 0.0, low)) * scale).clamp(0, _most(x)).to(x.dtype)
    return _on(img, run)


def adjust_sharpness(img, sharpness_factor):
    def run(x):
        kernel = torch.tensor([[1.0, 1, 1], [1, 5, 1], [1, 1, 1]]) / 13
        whole = x.to(torch.float32).reshape(-1, *x.shape[-3:])
        soft = torch.nn.functional.conv2d(whole, kernel.expand(x.shape[-3], 1, 3, 3), groups=x.shape[-3]).reshape(*x.shape[:-2], x.shape[-2] - 2, -1)
        blurred = x.clone()
        blurred[..., 1:-1, 1:-1] = (soft if x.dtype.is_floating_point else soft.round()).to(x.dtype)
        return F._blend(x, blurred, sharpness_factor)
    return _on(img, run)


def five_crop(img, size):
    h, w = (size, size) if isinstance(size, int) else size
    width, height = F.get_image_size(img)
    corners = [F.crop(img, top, left, h, w) for top in (0, height - h) for left in (0, width - w)]
    return (*corners, F.center_crop(img, [h, w]))


def resized_crop(img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    return F.resize(F.crop(img, top, left, height, width), size, interpolation, None, antialias)


def get_dimensions(img):
    width, height = F.get_image_size(img)
    return [img.shape[-3] if hasattr(img, "shape") else len(img.getbands()), height, width]


def _uniform(bounds):
    return float(torch.empty(1).uniform_(float(bounds[0]), float(bounds[1])).item())


def _about_zero(value):
    return [-float(value), float(value)] if isinstance(value, (int, float)) else [float(v) for v in value]


class RandomRotation(_Transform):
    def __init__(self, degrees, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=0):
        super().__init__()
        self.degrees, self.interpolation, self.expand, self.center, self.fill = _about_zero(degrees), interpolation, expand, center, fill

    def forward(self, img):
        return F.rotate(img, _uniform(self.degrees), self.interpolation, self.expand, self.center, self.fill)

    def _text(self):
        text = f"degrees={self.degrees}, interpolation={_mode(self.interpolation)}, expand={self.expand}"
        return text + (f", center={self.center}" if self.center is not None else "") + (f", fill={self.fill}" if self.fill is not None else "")


class RandomAffine(_Transform):
    def __init__(self, degrees, translate=None, scale=None, shear=None, interpolation=InterpolationMode.NEAREST, fill=0, center=None):
        super().__init__()
        self.degrees, self.translate, self.scale = _about_zero(degrees), translate, scale
        self.shear = None if shear is None else _about_zero(shear)
        self.interpolation, self.fill, self.center = interpolation, fill, center

    def forward(self, img):
        angle, shift, scale, shear = _uniform(self.degrees), (0, 0), 1.0, [0.0, 0.0]
        if self.translate is not None:
            most = [float(t * n) for t, n in zip(self.translate, F.get_image_size(img))]
            shift = tuple([int(round(_uniform((-m, m)))) for m in most])
        if self.scale is not None:
            scale = _uniform(self.scale)
        if self.shear is not None:
            shear = [_uniform(self.shear[:2]), _uniform(self.shear[2:]) if len(self.shear) == 4 else 0.0]
        return F.affine(img, angle, shift, scale, shear, self.interpolation, self.fill, self.center)

    def _text(self):
        text = f"degrees={self.degrees}"
        for name in ("translate", "scale", "shear"):
            text += "" if getattr(self, name) is None else f", {name}={getattr(self, name)}"
        text += "" if _mode(self.interpolation) == "nearest" else f", interpolation={_mode(self.interpolation)}"
        return text + (f", fill={self.fill}" if self.fill else "")


class RandomErasing(_Transform):
    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__()
        self.p, self.scale, self.ratio, self.value, self.inplace = p, scale, ratio, value, inplace

    def forward(self, img):
        if not torch.rand(1) < self.p:
            return img
        c, height, width = img.shape[-3:]
        bounds = torch.log(torch.tensor(self.ratio)).tolist()
        for _ in range(10):
            area = height * width * _uniform(self.scale)
            aspect = torch.exp(torch.tensor(_uniform(bounds))).item()
            h, w = int(round(math.sqrt(area * aspect))), int(round(math.sqrt(area / aspect)))
            if h < height and w < width:
                value = self.value
                if isinstance(value, str):
                    v = torch.empty([c, h, w]).normal_()
                else:
                    v = torch.tensor([float(x) for x in (value if isinstance(value, (list, tuple)) else [value])])[:, None, None]
                i, j = [torch.randint(0, n + 1, size=(1,)).item() for n in (height - h, width - w)]
                return F.erase(img, i, j, h, w, v, self.inplace)
        return img

    def _text(self):
        return f"p={self.p}, scale={self.scale}, ratio={self.ratio}, value={self.value}, inplace={self.inplace}"


class _Several(_Transform):
    def __init__(self, transforms):
        super().__init__()
        self.transforms = transforms

    def __repr__(self):
        return type(self).__name__ + "(" + "".join([f"\n    {t}" for t in self.transforms]) + "\n)"


class RandomChoice(_Several):
    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        self.p = p

    def forward(self, *args):
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self):
        return super().__repr__() + f"(p={self.p})"


class RandomOrder(_Several):
    def forward(self, img):
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class FiveCrop(_Transform):
    def __init__(self, size):
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def forward(self, img):
        return five_crop(img, self.size)

    def _text(self):
        return f"size={self.size}"


def _now_and_then(name, function, *settings):
    def __init__(self, *args, p=0.5, **kwargs):
        _Transform.__init__(self)
        names = (*settings, "p")
        for key, value in {"p": p, **dict(zip(names, args)), **kwargs}.items():
            setattr(self, key, value)

    def forward(self, img):
        return function(img, *[getattr(self, s) for s in settings]) if torch.rand(1).item() < self.p else img

    def _text(self):
        return ",".join([f"{s}={getattr(self, s)}" for s in (*settings, "p")])
    return type(name, (_Transform,), {"__init__": __init__, "forward": forward, "_text": _text, "__module__": "torchvision.transforms.transforms"})


RandomInvert = _now_and_then("RandomInvert", invert)
RandomAutocontrast = _now_and_then("RandomAutocontrast", autocontrast)
RandomSolarize = _now_and_then("RandomSolarize", solarize, "threshold")
RandomPosterize = _now_and_then("RandomPosterize", posterize, "bits")
RandomAdjustSharpness = _now_and_then("RandomAdjustSharpness", adjust_sharpness, "sharpness_factor")

for _name in FUNCTIONS:
    setattr(F, _name, globals()[_name])
