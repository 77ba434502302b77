import type { ExtractedBlock } from '../extraction.ts'
import { cleanLine } from './clean-text.ts'

const maximumAuthor = 100

/** A comment as every format has it; null if it has no text. */
export function commentBlock(author: string, text: string): ExtractedBlock | null {
  const lines = text.split('\n').map(cleanLine)
  const shown = lines.filter((line) => line !== '').join('\n')
  if (shown === '') return null
  const by = author === '' ? '' : ` by ${author.slice(0, maximumAuthor)}`
  return { kind: 'footnote', text: `Comment${by}: ${shown}` }
}
