import { cleanLine } from '../clean-text.ts'
import { type OfficePackage, readRelationships } from '../office-package.ts'
import { readWholeXml } from '../office-xml.ts'
import { createTextReader, maximumCellCharacters } from './cell-text.ts'

const maximumPeople = 20_000
const maximumAuthor = 200
/** The author of a note that only repeats a conversation for older programs. */
const copyOfConversation = /^tc=/

/** Names of those who take part in conversations, by their ids ([MS-XLSX] 2.6.203). */
export async function readPeople(archive: OfficePackage, part: string): Promise<Map<string, string>> {
  const people = new Map<string, string>()
  await readWholeXml(
    archive.read(part),
    {
      open(name, attribute) {
        if (name === 'person' && people.size < maximumPeople)
          people.set(attribute('id') ?? '', cleanLine(attribute('displayName') ?? ''))
      },
    },
    archive.kind,
  )
  return people
}

/** The notes of a sheet's cells, and the conversations about them. */
export async function readComments(
  archive: OfficePackage,
  sheetPart: string,
  people: ReadonlyMap<string, string>,
): Promise<string[]> {
  const relationships = await readRelationships(archive, sheetPart)
  const partOf = (wanted: string) => relationships.find(({ type }) => type === wanted)?.target
  const conversation = partOf('threadedComment')
  const notes = await readNotes(archive, partOf('comments'), conversation !== undefined)
  return [...notes, ...(await readConversation(archive, conversation, people))]
}

/** ECMA-376 part 1, 18.7. */
async function readNotes(archive: OfficePackage, part: string | undefined, hasConversation: boolean) {
  const notes: string[] = []
  if (part === undefined) return notes
  const authors: string[] = []
  const reader = createTextReader()
  let authorName: string | null = null
  let place = ''
  let author = ''
  await readWholeXml(
    archive.read(part),
    {
      open(name, attribute) {
        if (name === 'author') authorName = ''
        else if (name === 'comment') {
          place = attribute('ref') ?? ''
          author = authors[Number(attribute('authorId'))] ?? ''
          reader.start()
        }
        reader.open(name)
      },
      close(name) {
        reader.close(name)
        if (name === 'author' && authorName !== null && authors.length < maximumPeople)
          authors.push(cleanLine(authorName))
        if (name === 'author') authorName = null
        const text = name === 'comment' ? reader.take() : ''
        if (text !== '' && !(hasConversation && copyOfConversation.test(author))) notes.push(note(place, author, text))
      },
      text(text) {
        if (authorName !== null && authorName.length < maximumAuthor) authorName += text
        reader.text(text)
      },
    },
    archive.kind,
  )
  return notes
}

/** [MS-XLSX] 2.6.205. */
async function readConversation(
  archive: OfficePackage,
  part: string | undefined,
  people: ReadonlyMap<string, string>,
): Promise<string[]> {
  const notes: string[] = []
  if (part === undefined) return notes
  let place = ''
  let author = ''
  let text: string | null = null
  await readWholeXml(
    archive.read(part),
    {
      open(name, attribute) {
        if (name === 'threadedComment') {
          place = attribute('ref') ?? ''
          author = people.get(attribute('personId') ?? '') ?? ''
        } else if (name === 'text') text = ''
      },
      close(name) {
        if (name !== 'text' || text === null) return
        if (cleanLine(text) !== '') notes.push(note(place, author, cleanLine(text)))
        text = null
      },
      text(piece) {
        if (text !== null && text.length < maximumCellCharacters) text += piece
      },
    },
    archive.kind,
  )
  return notes
}

/** Excel writes the name of its author into a note, too, and other programs do not. */
function note(place: string, author: string, text: string): string {
  return author === '' || copyOfConversation.test(author) || text.startsWith(author)
    ? `${place}: ${text}`
    : `${place} (${author}): ${text}`
}
