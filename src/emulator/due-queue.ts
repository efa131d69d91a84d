/** A binary heap by due time; equal times in order of insertion. */
export interface DueQueue<T> {
  readonly size: number;
  push(due: number, value: T): void;
  peek(): { readonly due: number; readonly value: T } | undefined;
  pop(): T | undefined;
}

interface Node<T> {
  readonly due: number;
  readonly order: number;
  readonly value: T;
}

export function createDueQueue<T>(): DueQueue<T> {
  const heap: Node<T>[] = [];
  let order = 0;
  const before = (a: Node<T>, b: Node<T>) => a.due < b.due || (a.due === b.due && a.order < b.order);

  function siftUp(node: Node<T>): void {
    let i = heap.length;
    heap.push(node);
    while (i > 0) {
      const parentIndex = (i - 1) >> 1;
      const parent = heap[parentIndex];
      if (!parent || !before(node, parent)) break;
      heap[i] = parent;
      i = parentIndex;
    }
    heap[i] = node;
  }

  function siftDown(node: Node<T>): void {
    let i = 0;
    for (;;) {
      const left = 2 * i + 1;
      const a = heap[left];
      if (!a) break;
      const b = heap[left + 1];
      const child = b && before(b, a) ? b : a;
      if (!before(child, node)) break;
      heap[i] = child;
      i = child === a ? left : left + 1;
    }
    heap[i] = node;
  }

  return {
    get size() {
      return heap.length;
    },
    push: (due, value) => siftUp({ due, order: order++, value }),
    peek: () => heap[0],
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (first && last && heap.length > 0) siftDown(last);
      return first?.value;
    },
  };
}
