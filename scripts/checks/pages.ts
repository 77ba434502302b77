import type { SourceFile } from './source-files.ts'

export interface PageFault {
  path: string
  /** The first line with the fault, counted from 1. */
  line: number
  reason: string
}

const maximumCharacters = 100
const maximumLines = 200
/** A decision is one page with one decision. */
const maximumDecisionLines = 60

const decision = /^docs\/decisions\/\d/

/**
 * Pages of docs/ that are too long or too wide to read in an editor. The addresses of links and the lines of code blocks do not count towards
 * the width. docs/reference is generated.
 */
export function findPageFaults(files: readonly SourceFile[]): PageFault[] {
  return files
    .filter(({ path }) => path.startsWith('docs/') && path.endsWith('.md') && !path.startsWith('docs/reference/'))
    .flatMap(({ path, text }) => {
      const lines = text.replace(/\n$/, '').split('\n')
      const bound = decision.test(path) ? maximumDecisionLines : maximumLines
      const tooLong = lines.length > bound && {
        path,
        line: bound + 1,
        reason: `has ${lines.length} lines, above ${bound}`,
      }
      return [...(tooLong ? [tooLong] : []), ...findWideLines(path, lines)]
    })
}

function findWideLines(path: string, lines: readonly string[]): PageFault[] {
  const faults: PageFault[] = []
  /** The fence of the code block that the line is in. */
  let fence: string | undefined
  for (const [index, line] of lines.entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark !== undefined && mark.startsWith(fence)) fence = undefined
      continue
    }
    fence = mark
    const characters = [...withoutAddresses(line)].length
    if (fence === undefined && characters > maximumCharacters)
      faults.push({ path, line: index + 1, reason: `has ${characters} characters, above ${maximumCharacters}` })
  }
  return faults
}

/** Targets of links and bare addresses cannot be broken over lines. */
function withoutAddresses(line: string): string {
  return line.replaceAll(/\]\([^)\s]+\)/g, ']').replaceAll(/\bhttps?:\/\/[^\s)>`|]+/g, '')
}
