import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyseChunks, analyseQuery, maximumQueryTerms } from './analyse-text.ts'
import { detectLatinLanguage } from './languages.ts'
import { tokenize } from './tokenize.ts'

function matches(text: string, query: string): boolean {
  const [chunk] = analyseChunks('space', [text])
  const wanted = new Set(analyseQuery('space', query, chunk!.languages))
  return chunk!.terms.some((term) => wanted.has(term))
}

describe('terms', () => {
  it('are found by any query that is a word of the text, in any script', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const [chunk] = analyseChunks('space', [text])
        const terms = new Set(chunk!.terms)
        for (const term of analyseQuery('space', text, chunk!.languages)) expect(terms).toContain(term)
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

  it('of two Spaces have nothing in common', () => {
    const [here] = analyseChunks('here', ['The very same words about badgers and otters'])
    const [there] = analyseChunks('there', ['The very same words about badgers and otters'])
    expect(here!.terms.filter((term) => there!.terms.includes(term))).toEqual([])
  })

  it('join the forms of a word by the language of the text', () => {
    expect(matches('The committee meets and the meetings are open to all.', 'meeting')).toBe(true)
    expect(matches('Die Verträge sind von beiden Seiten zu unterschreiben.', 'Vertrag')).toBe(true)
    expect(matches('Les employés ont droit à des congés payés.', 'employé')).toBe(true)
    expect(matches('Los empleados tienen derecho a vacaciones.', 'empleado')).toBe(true)
    expect(matches('Die Straße ist gesperrt.', 'strasse')).toBe(true)
  })

  it('keep a table, which has no function words, findable beside text in another language', () => {
    const languages = ['Der Preis ist in der Tabelle und gilt für alle Kunden.', 'Schrauben; 4,20; 100']
    const [, table] = analyseChunks('space', languages)
    expect(table!.terms).toContain(analyseQuery('space', 'Schraube', ['de'])[0])
  })

  it('of a query are bounded, and function words are none', () => {
    const many = Array.from({ length: 1_000 }, (_, word) => `word${word}`).join(' ')
    expect(analyseQuery('space', many, ['en'])).toHaveLength(maximumQueryTerms)
    expect(analyseQuery('space', 'what is the of and to', ['en'])).toEqual([])
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

  it('tell the language of a running text, and nothing of a list of names', () => {
    const words = (text: string) => tokenize(text, { singleCharacters: false })
    expect(detectLatinLanguage(words('The cat sat on the mat because it was warm.'))).toBe('en')
    expect(detectLatinLanguage(words('Die Katze saß auf der Matte, weil sie warm war.'))).toBe('de')
    expect(detectLatinLanguage(words('Le chat est assis sur le tapis parce que la pièce est chaude.'))).toBe('fr')
    expect(detectLatinLanguage(words('El gato está en la alfombra porque hace calor.'))).toBe('es')
    expect(detectLatinLanguage(words('Siemens Bosch Miele Beko'))).toBeNull()
  })
})
