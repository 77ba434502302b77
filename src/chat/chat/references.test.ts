import { describe, expect, test } from 'vitest'
import type { Passage } from '../../documents/retrieval/index.ts'
import { createDocumentId } from '../../platform/kernel/index.ts'
import { joinChunks, toCitedSource } from './context/prompt.ts'
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

async function cite(passage: ReturnType<typeof joinChunks>, ...sentences: string[]) {
  const markers = sentences.map((text, index) => ({
    sourceNumber: 1,
    occurrence: index + 1,
    isAttributed: false,
    cited: () => ({ sentence: text, part: text }),
  }))
  const [reference] = await referencesOfCitations([{ source: toCitedSource(passage), markers }], [passage], true)
  return reference!.passages!
}

describe('references to a joined passage', () => {
  const joined = joinChunks([first, second])

  test('have the text of both chunks once', () => {
    expect(joined.text).toBe(`${pond}${tail}\n${tickets}`)
    expect(joined).toMatchObject({ pageFrom: 3, pageTo: 4 })
  })

  test('name page, heading and range of the chunk that has the quote', async () => {
    expect(await cite(joined, 'How many herons does the pond hold? Forty.')).toMatchObject([
      { page: 3, heading: 'Garden', quote: pond, start: first.characterFrom, end: first.characterTo },
    ])
    expect(await cite(joined, 'Tickets for adults cost twelve euros.')).toMatchObject([
      { page: 4, heading: 'Garden > Prices', quote: tickets, start: second.characterFrom, end: second.characterTo },
    ])
  })

  test('name each cited chunk once, and one range where the quote is in both', async () => {
    expect(await cite(joined, 'Forty herons.', 'Twelve euros.', 'The pond has forty herons.')).toHaveLength(2)
    expect(await cite(joined, 'Guests may feed the forty herons at noon; tickets cost twelve euros.')).toMatchObject([
      { page: 3, start: first.characterFrom, end: second.characterTo },
    ])
  })

  test('have the quote, the page and the range of each marker', async () => {
    const cited = await cite(joined, 'Forty herons.', 'Tickets cost twelve euros.', 'Guests feed at noon.')
    const from = (text: string) => first.characterFrom + joined.text.indexOf(text)
    const marker = (occurrence: number, quote: string, page: number) => {
      return { occurrence, quote, page, start: from(quote), end: from(quote) + quote.length }
    }
    expect(cited.map(({ markers }) => markers)).toEqual([
      [marker(1, pond, 3), marker(3, tail.trim(), 3)],
      [marker(2, tickets, 4)],
    ])
  })

  test('have no range of a quote in a text that is no stretch of the document', async () => {
    const column = chunk(-1, 'lamp | 4\nvase | 5', 0, { characterTo: 400, pageFrom: null })
    expect(await cite(joinChunks([column]), 'The vase costs 5.')).toMatchObject([
      { markers: [{ occurrence: 1, quote: 'vase | 5' }] },
    ])
    expect((await cite(joinChunks([column]), 'The vase costs 5.'))[0]!.markers![0]).not.toHaveProperty('start')
  })

  test('name the rows of the chunk that has the quote', async () => {
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
    expect(await cite(joinChunks([upper, lower]), 'The sofa costs 800.')).toMatchObject([{ rows: { from: 3, to: 4 } }])
  })

  test('list every chunk where the answer has no markers', () => {
    const [reference] = referencesOfPassages([joined], 'Forty herons.', true)
    expect(reference!.passages).toMatchObject([
      { start: first.characterFrom, end: first.characterTo, quote: pond },
      { start: second.characterFrom, end: second.characterTo },
    ])
  })
})
