import { View } from "./bytes";

/** Ranges of memory that somebody else keeps. Reused: it grows to the most that it has held, and then allocates nothing. */
@final
export class ViewList {
  length: i32 = 0;

  private views: Array<View> = [];

  clear(): void {
    this.length = 0;
  }

  at(index: i32): View {
    return this.views[index];
  }

  add(ptr: usize, length: i32): void {
    const views = this.views;
    if (this.length == views.length) views.push(new View());
    views[this.length++].set(ptr, length);
  }

  /** Whether one of the ranges holds the same bytes. */
  has(view: View): bool {
    for (let i = 0; i < this.length; i++) {
      if (this.views[i].compare(view) == 0) return true;
    }
    return false;
  }

  /** Puts the ranges into byte order, in place (Shell's method). */
  sort(): void {
    let gap = this.length;
    while (gap > 1) {
      gap = gap > 3 ? (gap * 4) / 9 : 1;
      for (let i = gap; i < this.length; i++) this.sink(i, gap);
    }
  }

  private sink(index: i32, gap: i32): void {
    const views = this.views;
    const view = views[index];
    let i = index;
    for (; i >= gap && views[i - gap].compare(view) > 0; i -= gap) views[i] = views[i - gap];
    views[i] = view;
  }
}
