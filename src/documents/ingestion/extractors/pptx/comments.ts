import type { ExtractedBlock } from '../../extraction.ts'
import { cleanLine } from '../clean-text.ts'
import { commentBlock } from '../comment-block.ts'
import type { OfficePackage, Relationship } from '../office-package.ts'
import { readWholeXml } from '../office-xml.ts'

/** Longest text of one comment. */
const maximumCharacters = 32_000
const maximumAuthors = 20_000

/** The names of those who comment, by their ids, from the parts that a presentation names: in its former format and in the present one. */
export async function readCommentAuthors(
  archive: OfficePackage,
  relationships: readonly Relationship[],
): Promise<Map<string, string>> {
  const authors = new Map<string, string>()
  for (const { type, target, isExternal } of relationships) {
    if (isExternal || (type !== 'commentAuthors' && type !== 'authors')) continue
    await readWholeXml(
      archive.read(target),
      {
        open(name, attribute) {
          const isAuthor = name === 'cmAuthor' || name === 'author'
          if (isAuthor && authors.size < maximumAuthors)
            authors.set(attribute('id') ?? '', cleanLine(attribute('name') ?? ''))
        },
      },
      archive.kind,
    )
  }
  return authors
}

/**
 * The comments of a slide and the answers to them. PowerPoint writes `text` in its former format (ECMA-376 part 1, 19.4) and
 * `txBody` in the present one ([MS-PPTX] 2.19.2).
 */
export async function readSlideComments(
  archive: OfficePackage,
  part: string,
  authors: ReadonlyMap<string, string>,
): Promise<ExtractedBlock[]> {
  const blocks: ExtractedBlock[] = []
  /** Of the open comment and of the answer in it. */
  const open: string[] = []
  let text = ''
  let isText = false
  const end = () => {
    const block = commentBlock(open.at(-1) ?? '', text)
    text = ''
    if (block) blocks.push(block)
  }
  await readWholeXml(
    archive.read(part),
    {
      open(name, attribute) {
        if (name === 'cm' || name === 'reply') {
          // The answers may come before the text of the comment that contains them.
          end()
          open.push(authors.get(attribute('authorId') ?? '') ?? '')
        } else if (name === 't' || name === 'text') isText = true
      },
      close(name) {
        if (name === 't' || name === 'text') isText = false
        else if (name === 'p') text += '\n'
        else if (name === 'cm' || name === 'reply') {
          end()
          open.pop()
        }
      },
      text(piece) {
        if (isText && text.length < maximumCharacters) text += piece
      },
    },
    archive.kind,
  )
  return blocks
}
