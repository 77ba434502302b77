import { withoutPositions } from './diff-bodies.ts'
import type { JudgedDifference, RequestResult } from './check-request.ts'

/** Unlisted differences in the form of the list, one entry per field, side and comparison; add reason and source by hand. */
export function suggestEntries(results: readonly RequestResult[]): string[] {
  const groups = Map.groupBy(
    results.flatMap(({ differences }) => differences.filter(({ known }) => known === null)),
    ({ against, difference }) => `${withoutPositions(difference.path)} ${sideOf(difference)} ${against}`,
  )
  return [...groups.values()].map(toEntry)
}

function toEntry(group: readonly JudgedDifference[]): string {
  const [{ against, difference }] = group as [JudgedDifference]
  const hosts = [...new Set(group.map(({ host }) => `'${host}'`))].join(', ')
  return [
    '  {',
    `    hosts: [${hosts}],`,
    `    paths: ['${withoutPositions(difference.path)}'],`,
    `    who: ['${sideOf(difference)}'],`,
    `    against: '${against}',`,
    `    // ${JSON.stringify(difference.ours) ?? 'nothing'} here, ${JSON.stringify(difference.theirs) ?? 'nothing'} there.`,
    "    reason: '',",
    "    source: '',",
    '  },',
  ].join('\n')
}

function sideOf({ ours, theirs }: JudgedDifference['difference']): 'ours' | 'theirs' | 'both' {
  if (ours === undefined) return 'theirs'
  return theirs === undefined ? 'ours' : 'both'
}
