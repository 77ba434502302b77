import type { ExtractedBlock } from '../../extraction.ts'
import { cleanLine } from '../clean-text.ts'
import { commentBlock } from '../comment-block.ts'
import type { ExtractionReport } from '../extractor.ts'
import type { OfficePackage } from '../office-package.ts'
import { readWholeXml } from '../office-xml.ts'

/** Bounds on the comments of one document, which are kept until the paragraphs that they concern are read. */
const maximumComments = 20_000
const maximumCharacters = 4_000_000

/** The comments of a document by their ids, each as a block that follows the paragraph it concerns. */
export async function readComments(
  archive: OfficePackage,
  part: string,
  report: ExtractionReport,
): Promise<Map<string, ExtractedBlock>> {
  const comments = new Map<string, ExtractedBlock>()
  let characters = 0
  let isCut = false
  let current: { id: string; author: string; text: string } | null = null
  let deletions = 0
  let isText = false
  await readWholeXml(
    archive.read(part),
    {
      open(name, attribute) {
        if (name === 'w:comment')
          current = { id: attribute('id') ?? '', author: cleanLine(attribute('author') ?? ''), text: '' }
        else if (name === 'w:del') deletions += 1
        else if (name === 'w:t') isText = deletions === 0
        else if (name === 'w:tab' || name === 'w:br') add(' ')
      },
      close(name) {
        if (name === 'w:del') deletions -= 1
        else if (name === 'w:t') isText = false
        else if (name === 'w:p') add('\n')
        else if (name === 'w:comment' && current) {
          const block = commentBlock(current.author, current.text)
          if (block) comments.set(current.id, block)
          current = null
        }
      },
      text(text) {
        if (isText) add(text)
      },
    },
    archive.kind,
  )
  if (isCut) report.warn({ code: 'truncated', message: 'The document has too many comments; some were not read.' })
  return comments

  function add(text: string) {
    if (!current) return
    characters += text.length
    if (characters > maximumCharacters || comments.size >= maximumComments) isCut = true
    else current.text += text
  }
}
