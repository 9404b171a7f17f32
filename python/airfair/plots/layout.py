"""Positions in the drawing for nodes without a position: neighbours near each other, the same every time.

Classical scaling of hop counts gives the large picture (Brandes and Pich, "Eigensolver methods for
progressive multidimensional scaling of large data", Graph Drawing 2006), springs the small one (Fruchterman
and Reingold, "Graph drawing by force-directed placement", 1991).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PIVOTS = 50
STEPS = 60

FEW = 12
"""Most nodes without a position that get rows of their own."""

GOLDEN = float(np.pi * (3 - np.sqrt(5)))
"""The angle by which each of many directions differs from the one before, and from all others."""


def spread(count: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Positions of `count` nodes, shape (count, 2): linked ones lie about 1 apart, parts side by side."""
    positions = np.zeros((count, 2))
    parts = components(count, edges)
    placed = []
    for part in parts:
        place = {node: i for i, node in enumerate(part)}
        inner = [(place[a], place[b]) for a, b in edges if a in place and b in place]
        placed.append(_relaxed(_scaled(len(part), inner), inner))
    corner, row, widest = (
        np.zeros(2),
        0.0,
        1.5 * np.sqrt(sum((np.ptp(p, axis=0) + 1.5).prod() for p in placed)),
    )
    for part, own in zip(parts, placed, strict=True):
        size = np.ptp(own, axis=0) + 1.5
        if corner[0] > 0 and corner[0] + size[0] > widest:
            corner, row = np.array([0.0, corner[1] + row]), 0.0
        positions[part] = own - own.min(axis=0) + corner
        corner = corner + np.array([size[0], 0.0])
        row = max(row, size[1])
    return positions


def fill_in(known: np.ndarray, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Positions of all nodes, shape (n, 2), where some are known and the others are NaN.

    A few, such as routers and servers behind an access point, get rows beside the known ones, by their
    distance in hops. Many get places near their neighbours; those without any stand below the others.
    """
    free = [int(node) for node in np.flatnonzero(np.isnan(known).any(axis=1))]
    near: list[list[int]] = [[] for _ in known]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    return _rows(known, free, near) if len(free) <= FEW else _near(known, free, near)


def _rows(known: np.ndarray, free: Sequence[int], near: Sequence[Sequence[int]]) -> np.ndarray:
    """In rows on that side of the known nodes where the first row's links keep the most clear of them."""
    placed = ~np.isnan(known).any(axis=1)
    hops = np.where(placed, 0.0, np.inf)
    front = [int(node) for node in np.flatnonzero(placed)]
    for node in front:  # it grows meanwhile
        for other in near[node]:
            if hops[other] == np.inf:
                hops[other] = hops[node] + 1
                front.append(other)
    hops[np.isinf(hops)] = 1
    low, high = known[placed].min(axis=0), known[placed].max(axis=0)
    reach = float(np.max(high - low)) or 1.0
    best, clearest = known, -1.0
    for axis, sign in ((1, -1), (1, 1), (0, -1), (0, 1)):
        trial = known.copy()
        for hop in range(1, int(hops.max()) + 1):
            row = [node for node in free if hops[node] == hop]
            before = {node: [o for o in near[node] if hops[o] < hop] for node in row}
            wish = {
                n: trial[b, 1 - axis].mean() if b else (low + high)[1 - axis] / 2 for n, b in before.items()
            }
            row.sort(key=lambda node: (wish[node], node))
            step = max(0.22 * reach, reach / max(1, len(row)))
            centre = np.mean([wish[node] for node in row]) if row else 0.0
            for place, node in enumerate(row):
                trial[node, 1 - axis] = centre + step * (place - (len(row) - 1) / 2)
                trial[node, axis] = (high if sign > 0 else low)[axis] + sign * 0.3 * reach * hop
        clear = _clearance(trial, free, near, placed)
        if clear > clearest + 1e-9 * reach:
            best, clearest = trial, clear
    return best


def _clearance(
    places: np.ndarray, free: Sequence[int], near: Sequence[Sequence[int]], placed: np.ndarray
) -> float:
    """The least distance of links between known and new nodes from other known nodes."""
    least = np.inf
    for node in free:
        for end in (o for o in near[node] if placed[o]):
            others = places[[i for i in np.flatnonzero(placed) if i != end]]
            if len(others):
                line = places[node] - places[end]
                along = np.clip((others - places[end]) @ line / (line @ line), 0, 1)
                apart = others - places[end] - along[:, None] * line
                least = min(least, float(np.hypot(apart[:, 0], apart[:, 1]).min()))
    return least if np.isfinite(least) else 0.0


def _near(known: np.ndarray, free: Sequence[int], near: Sequence[Sequence[int]]) -> np.ndarray:
    positions = known.copy()
    placed = known[~np.isnan(known).any(axis=1)]
    # One that is far away does not spread the others.
    low, high = np.quantile(placed, [0.01, 0.99], axis=0)
    step = 0.02 * (float(np.max(high - low)) or 1.0)
    found = {int(node) for node in np.flatnonzero(~np.isnan(known).any(axis=1))}
    waiting, turn = list(free), 0
    while waiting:
        left = []
        for node in waiting:
            beside = [other for other in near[node] if other in found]
            if not beside:
                left.append(node)
                continue
            turn += 1
            # A spiral's directions: those of one neighbour do not lie on each other.
            aside = step * (1 + 0.05 * (turn % 20)) * np.array([np.cos(turn * GOLDEN), np.sin(turn * GOLDEN)])
            positions[node] = positions[beside].mean(axis=0) + aside
            found.add(node)
        if len(left) == len(waiting):
            break
        waiting = left
    columns = max(1, int((high[0] - low[0]) / step / 1.5) + 1)
    for place, node in enumerate(waiting):
        down, along = divmod(place, columns)
        positions[node] = [low[0] + 1.5 * step * along, low[1] - 1.5 * step * (down + 3)]
    return positions


def components(count: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Nodes that links join, the largest part first."""
    parent = list(range(count))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b in edges:
        parent[root(a)] = root(b)
    parts: dict[int, list[int]] = {}
    for node in range(count):
        parts.setdefault(root(node), []).append(node)
    return sorted(parts.values(), key=lambda part: (-len(part), part[0]))


def _scaled(count: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Classical scaling of hop counts to some nodes far from each other."""
    if count <= 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[:count]
    near: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    pivot, nearest, rows = 0, np.full(count, np.inf), []
    for _ in range(min(PIVOTS, count)):
        hops = _hops(near, pivot)
        rows.append(hops)
        nearest = np.minimum(nearest, hops)
        pivot = int(np.argmax(nearest))
    squares = np.array(rows).T ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    _, vectors = np.linalg.eigh(centred.T @ centred)
    positions: np.ndarray = centred @ vectors[:, [-1, -2]]
    # The sign of an eigenvector is anyone's guess: the first node lies to the left and below.
    positions *= np.where(positions[0] > 0, -1.0, 1.0)
    extent = np.ptp(positions, axis=0).max()
    return positions * (nearest.size**0.5 / extent) if extent > 0 else positions


def _hops(near: Sequence[Sequence[int]], start: int) -> np.ndarray:
    found = np.full(len(near), np.inf)
    found[start], front = 0, [start]
    while front:
        following = []
        for node in front:
            for other in near[node]:
                if found[other] == np.inf:
                    found[other] = found[node] + 1
                    following.append(other)
        front = following
    return found


def _relaxed(positions: np.ndarray, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Nodes push each other away, links pull; the steps get shorter."""
    count = len(positions)
    if count <= 2:
        return positions
    # Equal places would stay equal: a little aside, each in a direction of its own.
    angle = np.arange(count) * GOLDEN
    places = positions + 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])
    links = np.array(edges, int).reshape(-1, 2)
    for step in range(STEPS):
        forces = np.zeros_like(places)
        for first in range(0, count, 512):  # so many rows at a time: memory stays small
            apart = places[first : first + 512, None, :] - places[None, :, :]
            squared = np.maximum((apart**2).sum(axis=-1), 1e-4)
            forces[first : first + 512] = (apart / squared[..., None]).sum(axis=1)
        along = places[links[:, 0]] - places[links[:, 1]]
        pull = along * np.hypot(along[:, 0], along[:, 1])[:, None]
        np.add.at(forces, links[:, 0], -pull)
        np.add.at(forces, links[:, 1], pull)
        length = np.maximum(np.hypot(forces[:, 0], forces[:, 1]), 1e-12)[:, None]
        limit = 0.1 * count**0.5 * (1 - step / STEPS) + 0.01
        places = places + forces / length * np.minimum(length, limit)
    return places
