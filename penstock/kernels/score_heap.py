"""A heap of scores: the order in which TensorFlow 1.x's suppression of boxes tries equal ones."""


class ScoreHeap:
    """The numbers of scores, best first; equal ones are moved as std::priority_queue moves them."""

    def __init__(self, scores):
        self._scores = scores
        self._slots: list[int] = []
        for number in range(len(scores)):
            self.push(number)

    def __len__(self):
        return len(self._slots)

    def push(self, number):
        self._slots.append(number)
        self._rise(len(self._slots) - 1, number)

    def pop(self):
        slots, scores = self._slots, self._scores
        best, moved = slots[0], slots.pop()
        if not slots:
            return best
        # The hole sinks to the bottom, along the better children (the right one of equal ones);
        # then what was last rises from there.
        hole, right, size = 0, 2, len(slots)
        while right < size:
            child = right - (scores[slots[right]] < scores[slots[right - 1]])
            slots[hole] = slots[child]
            hole, right = child, 2 * child + 2
        if right == size:  # a left child alone
            slots[hole] = slots[right - 1]
            hole = right - 1
        self._rise(hole, moved)
        return best

    def _rise(self, hole, number):
        slots, scores = self._slots, self._scores
        while hole and scores[slots[(hole - 1) // 2]] < scores[number]:
            slots[hole] = slots[(hole - 1) // 2]
            hole = (hole - 1) // 2
        slots[hole] = number
