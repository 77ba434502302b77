import { describe, expect, it } from 'vitest'
import { readEvidence } from './evidence.ts'
import { hasFact } from './facts.ts'

const has = (answer: string, fact: string) => hasFact(readEvidence({ title: '', text: answer }), fact)

describe('a fact is in an answer', () => {
  it.each([
    ['with its number in other digits and words', 'Adults pay €12 for a ticket.', 'twelve euros'],
    ['with its number in another form', 'The company sold 1.2 million cars.', '1,200,000 cars'],
    [
      'in another order and inflection',
      'Bags are kept in the cloakroom, which closes at nine.',
      'the cloakroom closes at 9',
    ],
    ['with its name', 'It was painted by Vincent van Gogh in 1888.', 'Vincent van Gogh'],
    ['as a single word', 'The door is blue.', 'blue'],
    ['in German', 'Kinder unter 6 Jahren zahlen keinen Eintritt.', 'Kinder unter sechs Jahren zahlen nichts'],
    ['in Chinese', '博物馆每天上午九点开门，星期一关闭。', '星期一关闭'],
    ['in Thai', 'พิพิธภัณฑ์ปิดวันจันทร์', 'ปิดวันจันทร์'],
    ['in Arabic', 'يغلق المتحف أبوابه يوم الاثنين.', 'يغلق المتحف يوم الاثنين'],
    [
      'by its figure in another language',
      'Der Eintritt für Erwachsene kostet an allen Tagen 12 Euro.',
      'Admission for adults is 12 euros on all days',
    ],
    ['as a word of the language only', 'Yes.', 'yes'],
  ])('%s', (_, answer, fact) => {
    expect(has(answer, fact)).toBe(true)
  })
})

describe('a fact is not in an answer', () => {
  it.each([
    ['with another number', 'Adults pay €13 for a ticket.', 'twelve euros'],
    ['with another scale', 'The company sold 1.2 billion cars.', '1.2 million cars'],
    ['with another currency', 'Adults pay $12 for a ticket.', '12 euros'],
    ['with another name', 'It was painted by Paul Gauguin in 1888.', 'Vincent van Gogh'],
    ['with half of a short fact', 'They used red paint.', 'blue paint'],
    ['with another day', 'The museum is closed on Sunday.', 'closed on Monday'],
    [
      'in another language without figures',
      'Das Museum ist an allen Montagen im Winter geschlossen.',
      'The museum is closed on all winter Mondays',
    ],
    ['in Chinese with another day', '博物馆每天上午九点开门，星期二休息。', '星期一关闭'],
    ['where the answer is empty', '', 'yes'],
    ['as a part of a word', 'The bluebell.', 'blue'],
  ])('%s', (_, answer, fact) => {
    expect(has(answer, fact)).toBe(false)
  })
})
