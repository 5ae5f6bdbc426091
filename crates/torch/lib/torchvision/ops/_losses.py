"""What two sets of boxes have in common, of pairs and of all with all, and as losses."""

import math

import torch

__all__ = ["complete_box_iou", "complete_box_iou_loss", "distance_box_iou", "distance_box_iou_loss", "generalized_box_iou_loss",
           "masks_to_boxes"]


def _common(a, b, eps=0.0):
    """The common part's share, the union and the corner to corner size of the box around both, all of pairs of boxes."""
    size = (torch.min(a[..., 2:], b[..., 2:]) - torch.max(a[..., :2], b[..., :2])).clamp(min=0)
    inter = size[..., 0] * size[..., 1]
    sizes = a[..., 2:] - a[..., :2], b[..., 2:] - b[..., :2]
    union = sizes[0].prod(-1) + sizes[1].prod(-1) - inter
    around = torch.max(a[..., 2:], b[..., 2:]) - torch.min(a[..., :2], b[..., :2])
    return inter / (union + eps), union, around, sizes


def _far(a, b, around, eps):
    between = (a[..., :2] + a[..., 2:]) / 2 - (b[..., :2] + b[..., 2:]) / 2
    return (between ** 2).sum(-1) / ((around ** 2).sum(-1) + eps)


def _shape(iou, sizes, eps):
    (w, h), (wb, hb) = sizes[0].unbind(-1), sizes[1].unbind(-1)
    v = 4 / math.pi ** 2 * (torch.atan(w / h) - torch.atan(wb / hb)) ** 2
    with torch.no_grad():
        alpha = v / (1 - iou + v + eps)
    return alpha * v


def _reduced(loss, reduction):
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean() if loss.numel() > 0 else 0.0 * loss.sum()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(f"Invalid Value for arg 'reduction': '{reduction} \n Supported reduction modes: 'none', 'mean', 'sum'")


def generalized_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    iou, union, around, _ = _common(boxes1, boxes2, eps)
    area = around.prod(-1)
    return _reduced(1 - (iou - (area - union) / (area + eps)), reduction)


def distance_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    iou, _, around, _ = _common(boxes1, boxes2, eps)
    return _reduced(1 - iou + _far(boxes1, boxes2, around, eps), reduction)


def complete_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    iou, _, around, sizes = _common(boxes1, boxes2, eps)
    return _reduced(1 - iou + _far(boxes1, boxes2, around, eps) + _shape(iou, sizes, eps), reduction)


def distance_box_iou(boxes1, boxes2, eps=1e-7):
    a, b = boxes1[..., :, None, :], boxes2[..., None, :, :]
    iou, _, around, _ = _common(a, b)
    return iou - _far(a, b, around.clamp(min=0), eps)


def complete_box_iou(boxes1, boxes2, eps=1e-7):
    a, b = boxes1[..., :, None, :], boxes2[..., None, :, :]
    iou, _, around, sizes = _common(a, b)
    return iou - _far(a, b, around.clamp(min=0), eps) - _shape(iou, sizes, eps)


def masks_to_boxes(masks):
    if masks.numel() == 0:
        return torch.zeros((0, 4))
    ends = []
    for axis in (1, 2):
        there = masks.bool().any(axis).float()
        ends.append((there.argmax(1), there.shape[1] - 1 - there.flip(1).argmax(1)))
    (x1, x2), (y1, y2) = ends
    boxes = torch.stack((x1, y1, x2, y2), 1).float()
    return boxes * masks.bool().flatten(1).any(1, keepdim=True)
