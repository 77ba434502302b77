/**
 * For every group of nodes that reach each other, one shortest cycle through its first node in the order of the names; the first node
 * comes again at the end.
 */
export function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  for (const start of [...edges.keys()].toSorted()) {
    if (done.has(start)) continue
    const cycle = shortestCycle(edges, start)
    if (!cycle) continue
    cycles.push(cycle)
    for (const node of reachable(edges, start)) if (reachable(edges, node).has(start)) done.add(node)
  }
  return cycles
}

function shortestCycle(edges: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const node of queue) {
    for (const next of edges.get(node) ?? []) {
      if (next === start) return [...pathTo(cameFrom, start, node), start]
      if (cameFrom.has(next)) continue
      cameFrom.set(next, node)
      queue.push(next)
    }
  }
  return undefined
}

function pathTo(cameFrom: ReadonlyMap<string, string>, start: string, end: string): string[] {
  const path = [end]
  while (path[0] !== start) path.unshift(cameFrom.get(path[0]!)!)
  return path
}

function reachable(edges: ReadonlyMap<string, readonly string[]>, start: string): Set<string> {
  const found = new Set<string>()
  const queue = [start]
  for (const node of queue) {
    for (const next of edges.get(node) ?? []) {
      if (found.has(next)) continue
      found.add(next)
      queue.push(next)
    }
  }
  return found
}
