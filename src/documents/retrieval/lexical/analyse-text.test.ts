import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyseChunks, analyseInSlices, analyseQuery, formerTerms, maximumQueryWords } from './analyse-text.ts'
import { detectLatinLanguage, tokenize } from '../../../platform/language/index.ts'

const termsOf = async (query: string, languages: string[] = []): Promise<number[]> =>
  (await analyseQuery('space', query, { languages })).flatMap(({ variants }) => variants)

async function matches(text: string, query: string, languages?: string[]): Promise<boolean> {
  const [chunk] = analyseChunks('space', [text])
  const wanted = new Set(await termsOf(query, languages ?? chunk!.languages))
  return chunk!.terms.some((term) => wanted.has(term))
}

describe('terms', () => {
  it('are found by any query that is a word of the text, in any script', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async (text) => {
        const [chunk] = analyseChunks('space', [text])
        const terms = new Set(chunk!.terms)
        for (const { variants } of await analyseQuery('space', text, chunk!)) {
          expect(variants.some((variant) => terms.has(variant))).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('are sorted 31-bit numbers, as often as the word occurs', () => {
    const [chunk] = analyseChunks('space', ['bees bee BEES flower'])
    expect(chunk!.terms).toEqual(chunk!.terms.toSorted((left, right) => left - right))
    expect(chunk!.terms).toHaveLength(4)
    expect(new Set(chunk!.terms).size).toBe(2)
    for (const term of chunk!.terms) expect(term >= 0 && term <= 0x7fffffff && Number.isInteger(term)).toBe(true)
  })

  it('of two Spaces are different', () => {
    const [here] = analyseChunks('here', ['The very same words about badgers and otters'])
    const [there] = analyseChunks('there', ['The very same words about badgers and otters'])
    expect(here!.terms.filter((term) => there!.terms.includes(term))).toEqual([])
  })

  it('are equal for the forms of a word in the language of the text', async () => {
    expect(await matches('The committee meets and the meetings are open to all.', 'meeting')).toBe(true)
    expect(await matches('Die Verträge sind von beiden Seiten zu unterschreiben.', 'Vertrag')).toBe(true)
    expect(await matches('Les employés ont droit à des congés payés.', 'employé')).toBe(true)
    expect(await matches('Los empleados tienen derecho a vacaciones.', 'empleado')).toBe(true)
    expect(await matches('Die Straße ist gesperrt.', 'strasse')).toBe(true)
  })

  it('of a table without function words are found next to text in another language', async () => {
    const languages = ['Der Preis ist in der Tabelle und gilt für alle Kunden.', 'Schrauben; 4,20; 100']
    const [, table] = analyseChunks('space', languages)
    const wanted = await termsOf('Schraube', ['de'])
    expect(table!.terms.some((term) => wanted.includes(term))).toBe(true)
  })

  it('of many chunks are made in slices, between which the event loop runs', async () => {
    // Many slices long, also where the processor is fast.
    const texts = Array.from({ length: 160 }, (_, chunk) =>
      Array.from({ length: 1_500 }, (_, word) => `word${chunk}x${word}`).join(' '),
    )
    let turns = 0
    const turn = () => {
      turns += 1
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    const analysed = await analyseInSlices('space', texts)
    clearImmediate(next)
    expect(turns).toBeGreaterThan(1)
    expect(analysed).toEqual(texts.flatMap((text) => analyseChunks('space', [text])))
  })

  it('of a word are the same whatever language was detected for its text', async () => {
    // Spanish function words outnumber the English ones: the chunk is mistaken for Spanish.
    const [mistaken] = analyseChunks('space', [
      'Los Angeles, El Paso, San Juan, La Jolla, De La Cruz: the map of the north',
    ])
    const [known] = analyseChunks('space', ['This is the map that was in the book about the north'])
    expect(mistaken!.languages).toEqual(['es'])
    expect(known!.languages).toEqual(['en'])
    const map = await termsOf('map', ['en', 'es'])
    const the = await termsOf('the', ['en', 'es'])
    for (const wanted of [map, the]) {
      const found = [mistaken!, known!].map(({ terms }) => wanted.filter((term) => terms.includes(term)))
      expect(found[0]).toHaveLength(1)
      expect(found[1]).toEqual(found[0])
    }
  })

  it('keep marks that change the word, and are found without the others', async () => {
    expect(await matches('Thành phố Hồ Chí Minh là thành phố lớn nhất của Việt Nam.', 'phở')).toBe(false)
    expect(await matches('Thành phố Hồ Chí Minh là thành phố lớn nhất của Việt Nam.', 'thanh pho')).toBe(true)
    expect(await matches('Người thanh niên đi học ở trường.', 'Thành phố là gì?')).toBe(false)
    expect(await matches('คำนี้คือป้า', 'ปา')).toBe(false)
    expect(await matches('किताब', 'कताब')).toBe(false)
    expect(await matches('Le café est fermé pour la journée.', 'cafe')).toBe(true)
  })
})

describe('the words of a query', () => {
  const words = async (query: string, languages: string[] = []) =>
    (await analyseQuery('space', query, { languages })).length

  it('are not its function words, unless there is nothing else', async () => {
    expect(await words('What is the price of a ticket?', ['en'])).toBe(2)
    expect(await words('Was kostet die Fahrt?', ['de', 'en'])).toBe(2)
    expect(await words('who are you', ['en'])).toBe(3)
    // One function word is a weak hint for a language that the Space does not have.
    expect(await words('die hard', ['en'])).toBe(2)
  })

  it('have weights by their frequency', async () => {
    const terms = await analyseQuery('space', 'badger otter badger Badger', { languages: ['en'] })
    const [badger, otter] = terms.map(({ weight }) => weight)
    expect(otter).toBe(1)
    expect(badger).toBeGreaterThan(2)
    const [often] = await analyseQuery('space', 'badger '.repeat(10_000), { languages: ['en'] })
    expect(often!.weight).toBeLessThan(9)
  })

  it('count once for any number of languages in the Space', async () => {
    const one = await analyseQuery('space', 'universities', { languages: ['en'] })
    const many = await analyseQuery('space', 'universities', { languages: ['en', 'de', 'fr', 'it', 'sv', 'tr'] })
    expect(many).toHaveLength(one.length)
    expect(many[0]!.variants.length).toBeGreaterThan(1)
  })

  it('of a long query are read in slices, between which the event loop runs', async () => {
    let turns = 0
    const counter = setInterval(() => turns++, 0)
    const waiting = setImmediate(function count() {
      turns++
      running = setImmediate(count)
    })
    let running = waiting
    await analyseQuery('space', 'ทดสอบคำถามยาวมาก'.repeat(12_500), { languages: ['th'] })
    clearInterval(counter)
    clearImmediate(running)
    expect(turns).toBeGreaterThan(20)
  })

  it('include the terms of the former analysis if the Space has any', async () => {
    const former = formerTerms('space', 'meetings', ['en'])
    const variants = async (hasFormerTerms: boolean) =>
      (await analyseQuery('space', 'meetings', { languages: ['en'], hasFormerTerms }))[0]!.variants
    expect(await variants(true)).toEqual([...(await variants(false)), ...former])
  })

  it('are bounded, and the end of a query counts as much as its beginning', async () => {
    const many = Array.from({ length: 60_000 }, (_, word) => `word${word}`).join(' ')
    const terms = await analyseQuery('space', `${many} incomprehensibilities`, { languages: ['en'] })
    expect(terms).toHaveLength(maximumQueryWords)
    const last = await termsOf('incomprehensibilities', ['en'])
    expect(terms.some(({ variants }) => variants.some((variant) => last.includes(variant)))).toBe(true)
  })
})

describe('words', () => {
  it.each([
    ['東京都の天気', ['東京', '京都', '都の', 'の天', '天気']],
    ['XJ-9000/b v2.1', ['xj', '9000', 'b', 'v2', '1']],
    ["l'hôtel", ['l', 'hôtel']],
    ['iPhone15手机', ['iphone15', '手机']],
    ['so\u00adft hy\u00adphen', ['soft', 'hyphen']],
    ['ﬁne', ['fine']],
  ])('of %s are %j', (text, words) => {
    expect(tokenize(text, { singleCharacters: false })).toEqual(words)
  })

  it('show the language of a running text, and none of a list of names', () => {
    const words = (text: string) => tokenize(text, { singleCharacters: false })
    expect(detectLatinLanguage(words('The cat sat on the mat because it was warm.'))).toBe('en')
    expect(detectLatinLanguage(words('Die Katze saß auf der Matte, weil sie warm war.'))).toBe('de')
    expect(detectLatinLanguage(words('Le chat est assis sur le tapis parce que la pièce est chaude.'))).toBe('fr')
    expect(detectLatinLanguage(words('El gato está en la alfombra porque hace calor.'))).toBe('es')
    expect(detectLatinLanguage(words('Siemens Bosch Miele Beko'))).toBeNull()
  })
})
