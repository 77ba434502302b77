import type { ExtractedBlock } from '../../extraction.ts'
import { commentBlock } from '../comment-block.ts'
import type { OfficePackage } from '../office-package.ts'
import { readWholeXml } from '../office-xml.ts'

/** Longest text of one comment. */
const maximumCharacters = 32_000

/**
 * The comments of a slide and the answers to them. PowerPoint writes `text` in its former format (ECMA-376 part 1, 19.4) and
 * `txBody` in the present one ([MS-PPTX] 2.19.2).
 */
export async function readSlideComments(archive: OfficePackage, part: string): Promise<ExtractedBlock[]> {
  const blocks: ExtractedBlock[] = []
  let text = ''
  let isText = false
  const end = () => {
    const block = commentBlock('', text)
    text = ''
    if (block) blocks.push(block)
  }
  await readWholeXml(
    archive.read(part),
    {
      open(name) {
        // The answers may come before the text of the comment that contains them.
        if (name === 'cm' || name === 'reply') end()
        else if (name === 't' || name === 'text') isText = true
      },
      close(name) {
        if (name === 't' || name === 'text') isText = false
        else if (name === 'p') text += '\n'
        else if (name === 'cm' || name === 'reply') end()
      },
      text(piece) {
        if (isText && text.length < maximumCharacters) text += piece
      },
    },
    archive.kind,
  )
  return blocks
}
