import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The commands that README.md, CONTRIBUTING.md and the pages of docs print, in fenced blocks and in running text. */

export const repository = path.resolve(import.meta.dirname, '../..')

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(path.join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => isMarkdown(name) && !name.startsWith('decisions/'))
    .map((name) => `docs/${name}`),
]

export interface DocumentedCommands {
  page: string
  /** Without comments; continued lines are joined. */
  lines: string[]
}

/** One entry per fenced shell block. */
export function fencedCommands(): DocumentedCommands[] {
  return pages.flatMap((page) =>
    [...readPage(page).matchAll(/^```(?:sh|bash|shell|console)\n([\s\S]*?)^```/gm)].map(([, block]) => ({
      page,
      lines: linesOf(block!),
    })),
  )
}

/** Commands in backticks, such as `npm run corpus`. */
export function inlineCommands(): { page: string; command: string }[] {
  return pages.flatMap((page) =>
    [...readPage(page).matchAll(/`((?:npm|npx|bash|node|portico|bin\/\w+|scripts\/[\w.-]+) [^`]+)`/g)].map(
      ([, command]) => ({
        page,
        command: command!,
      }),
    ),
  )
}

function readPage(page: string): string {
  return readFileSync(path.join(repository, page), 'utf8')
}

function linesOf(block: string): string[] {
  return block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s+)#\s.*$/, ''))
    .filter((line) => line.trim() !== '')
}

function isMarkdown(name: string): boolean {
  return name.endsWith('.md')
}
