import { describe, expect, test } from 'vitest'
import type { Passage } from '../../documents/retrieval/index.ts'
import { createDocumentId } from '../../platform/kernel/index.ts'
import { joinChunks } from './context/given-passage.ts'
import { toCitedSource } from './context/prompt.ts'
import { referencesOfCitations, referencesOfPassages } from './references.ts'

const documentId = createDocumentId()
const pond = 'The pond of the garden holds forty herons.'
const tail = ' Guests may feed them at noon.'
const tickets = 'Tickets for adults cost twelve euros.'

/** `from`: of the extracted text. */
function chunk(chunkIndex: number, text: string, from: number, more: Partial<Passage> = {}): Passage {
  return {
    chunkId: `chunk ${chunkIndex}`,
    documentId,
    documentName: 'guide.pdf',
    url: null,
    text,
    headingPath: [],
    tableHeader: null,
    chunkIndex,
    pageFrom: 3,
    pageTo: 3,
    pageStarts: [],
    characterFrom: from,
    characterTo: from + text.length,
    rowFrom: null,
    rowTo: null,
    score: 1,
    ...more,
  }
}

/** The end of the first chunk is the beginning of the second one; page 4 begins with the tickets. */
const first = chunk(0, pond + tail, 100, { headingPath: ['Garden'] })
const secondText = `${tail.trim()}\n${tickets}`
const second = chunk(1, secondText, first.characterTo - tail.trim().length, {
  headingPath: ['Garden', 'Prices'],
  pageTo: 4,
  pageStarts: [first.characterTo + 1],
})

const cite = (passage: ReturnType<typeof joinChunks>, ...sentences: string[]) =>
  referencesOfCitations(
    [
      {
        source: toCitedSource(passage),
        passages: sentences.map((text) => ({ sourceNumber: 1, sentence: () => text })),
      },
    ],
    [passage],
    true,
  )[0]!.passages

describe('references to a joined passage', () => {
  const joined = joinChunks([first, second])

  test('have the text of both chunks once', () => {
    expect(joined.text).toBe(`${pond}${tail}\n${tickets}`)
    expect(joined).toMatchObject({ pageFrom: 3, pageTo: 4 })
  })

  test('name page, heading and range of the chunk that has the quote', () => {
    expect(cite(joined, 'How many herons does the pond hold? Forty.')).toEqual([
      { page: 3, heading: 'Garden', quote: pond, start: first.characterFrom, end: first.characterTo },
    ])
    expect(cite(joined, 'Tickets for adults cost twelve euros.')).toEqual([
      { page: 4, heading: 'Garden > Prices', quote: tickets, start: second.characterFrom, end: second.characterTo },
    ])
  })

  test('name each cited chunk once, and one range where the quote is in both', () => {
    expect(cite(joined, 'Forty herons.', 'Twelve euros.', 'The pond has forty herons.')).toHaveLength(2)
    expect(cite(joined, 'Guests may feed the forty herons at noon; tickets cost twelve euros.')).toMatchObject([
      { page: 3, start: first.characterFrom, end: second.characterTo },
    ])
  })

  test('name the rows of the chunk that has the quote', () => {
    const header = 'Name | Price'
    const upper = chunk(4, 'lamp | 4\nvase | 5', 0, {
      pageFrom: null,
      pageTo: null,
      tableHeader: header,
      rowFrom: 1,
      rowTo: 2,
    })
    const lower = chunk(5, 'desk | 90\nsofa | 800', upper.characterTo + 1, {
      pageFrom: null,
      pageTo: null,
      tableHeader: header,
      rowFrom: 3,
      rowTo: 4,
    })
    expect(cite(joinChunks([upper, lower]), 'The sofa costs 800.')).toMatchObject([{ rows: { from: 3, to: 4 } }])
  })

  test('list every chunk where the answer has no markers', () => {
    const [reference] = referencesOfPassages([joined], 'Forty herons.', true)
    expect(reference!.passages).toMatchObject([
      { start: first.characterFrom, end: first.characterTo, quote: pond },
      { start: second.characterFrom, end: second.characterTo },
    ])
  })
})
