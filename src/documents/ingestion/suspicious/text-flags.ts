import type { ExtractedBlock, ExtractionWarning } from '../extraction.ts'
import { hasHiddenCharacters } from './hidden-characters.ts'
import { isInstructionLike } from './instruction-like.ts'

/** What readers of a document cannot see: the warning of every extractor that finds such text. */
export const hiddenText = {
  code: 'hidden_text',
  message:
    'The file holds text that its readers cannot see: invisible characters, hidden, tiny or white text, or comments. It was read, because it may be meant for search, but it can also be meant to mislead a model. Check the file.',
} as const satisfies ExtractionWarning

const instructionLikeText = {
  code: 'instruction_like_text',
  message:
    'The file holds sentences that read like instructions to a language model. Models receive them as quoted text and not as instructions. Check where the file comes from.',
} as const satisfies ExtractionWarning

/** Warns of text in a block that may be meant for a model and not for a reader. */
export function flagText({ text, page }: ExtractedBlock, warn: (warning: ExtractionWarning) => void): void {
  const pages = page === undefined ? {} : { pages: [page] }
  if (hasHiddenCharacters(text)) warn({ ...hiddenText, ...pages })
  if (isInstructionLike(text)) warn({ ...instructionLikeText, ...pages })
}
