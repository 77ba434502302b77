/** Owner of what is for no single organisation: it takes its share and its turns like one more. */
export const sharedOwner = ''

/**
 * Counts what each owner uses of a bounded amount. An owner may take more while it uses less than is free (dynamic thresholds with α = 1,
 * Choudhury and Hahne 1998): one alone gets half, two busy ones get a third each, and something is always free for the next one.
 */
export class FairShares {
  readonly maximum: number
  private readonly used = new Map<string, number>()
  private sum = 0

  constructor(maximum: number) {
    this.maximum = maximum
  }

  /** Of all owners. */
  get total(): number {
    return this.sum
  }

  /** Owners that use something. */
  get owners(): number {
    return this.used.size
  }

  /** What the owner with the most uses. */
  get most(): number {
    return Math.max(0, ...this.used.values())
  }

  usedBy(owner: string): number {
    return this.used.get(owner) ?? 0
  }

  hasRoom(owner: string): boolean {
    return this.usedBy(owner) < this.maximum - this.sum
  }

  /** Counts without a check: work that has begun is never refused. */
  take(owner: string, amount = 1): void {
    this.sum += amount
    this.used.set(owner, this.usedBy(owner) + amount)
  }

  release(owner: string, amount = 1): void {
    this.sum -= amount
    const rest = this.usedBy(owner) - amount
    if (rest > 0) this.used.set(owner, rest)
    else this.used.delete(owner)
  }
}
