import { describe, expect, test } from 'vitest'
import { isNoAnswer, rankSentences, readPassages, composeNoAnswer, scoreAnswerability } from './index.ts'

const one = (text: string) => [{ id: 1, text }]
const firstQuote = async (question: string, text: string) =>
  rankSentences(await readPassages(question, one(text)))[0]?.sentences.join(' ')

describe('the ranking of sentences', () => {
  test.each([
    {
      language: 'Arabic, with and without article, clitics and vowel marks',
      question: 'متى تأسست المدرسة؟',
      text: 'كان الكاتب مشهورا في البلاد. وتَأَسَّسَتْ مدرسةُ الطب عام 1850 في الشمال. يزور السياح السوق.',
      holds: '1850',
    },
    {
      language: 'Thai, cut into dictionary words',
      question: 'โรงเรียนแพทย์ก่อตั้งเมื่อไร',
      text: 'นักเขียนมีชื่อเสียงมากในประเทศและมีผู้อ่านหลายคน\nโรงเรียนแพทย์แห่งแรกก่อตั้งขึ้นในปี 1888\nนักท่องเที่ยวชอบไปตลาด',
      holds: '1888',
    },
    {
      language: 'Chinese',
      question: '医学院是什么时候成立的？',
      text: '这位作家在全国很有名。医学院成立于1912年。游客喜欢去市场。',
      holds: '1912',
    },
    {
      language: 'German compounds',
      question: 'Wann wurde die Regierung gebildet?',
      text: 'Der Autor war im ganzen Land berühmt. Die Regierungsbildung gelang erst 1921. Touristen besuchen den Markt.',
      holds: '1921',
    },
    {
      language: 'Vietnamese',
      question: 'Trường y được thành lập khi nào?',
      text: 'Nhà văn rất nổi tiếng. Trường y đầu tiên được thành lập năm 1902. Khách du lịch thích chợ.',
      holds: '1902',
    },
  ])('finds the sentence that answers in $language', async ({ question, text, holds }) => {
    expect(await firstQuote(question, text)).toContain(holds)
  })

  test('prefers the sentence with the expected kind of answer among equal ones', async () => {
    const texts = [
      'The bridge in Riverton was built with great care.',
      'The bridge in Riverton was built in 1932 or so.',
    ]
    const given = texts.map((text, index) => ({ id: index + 1, text }))
    const [first] = rankSentences(await readPassages('When was the bridge in Riverton built?', given))
    expect(first!.id).toBe(2)
  })

  test('adds the sentence before one that refers back to it', async () => {
    const text =
      'Everybody likes lunch. Marie Curie was born in Warsaw. She won the Nobel Prize in physics. Markets are open.'
    expect(await firstQuote('Who won the Nobel Prize in physics?', text)).toContain(
      'Marie Curie was born in Warsaw. She won',
    )
  })

  test('never quotes the same sentence twice', async () => {
    const evidence = await readPassages('Who insures laptops?', [
      { id: 1, text: 'The company insures laptops.' },
      { id: 2, text: 'The company insures laptops.' },
    ])
    expect(rankSentences(evidence)).toEqual([{ id: 1, sentences: ['The company insures laptops.'] }])
  })
})

describe('the answerability', () => {
  const passages = [
    { id: 1, text: 'The harbour of Riverton was opened in 1887. It has three piers and a lighthouse.' },
    { id: 2, text: 'The bakery sells bread and cakes every morning. Its owner lives in the village.' },
  ]
  const scoreOf = async (question: string, given = passages) => scoreAnswerability(await readPassages(question, given))

  test('is higher for a question whose words are together in one sentence', async () => {
    const held = await scoreOf('When was the harbour of Riverton opened?')
    expect(held).toBeGreaterThan(0.6)
    expect(await scoreOf('Which queen signed the treaty about copper mines in Riverton?')).toBeLessThan(held - 0.2)
    expect(await scoreOf('Zebra xylophone quantum?')).toBeLessThan(0.2)
  })

  test('is 0 without passages, and a share of 1 for any text', async () => {
    expect(await scoreOf('When was the harbour opened?', [])).toBe(0)
    for (const text of ['', '…', '😀', 'a', '\ud800']) {
      const score = await scoreOf(text, [{ id: 1, text }])
      expect(score).toBeGreaterThanOrEqual(0)
      expect(score).toBeLessThanOrEqual(1)
    }
  })
})

describe('an answer without an answer', () => {
  test.each([
    ['When was the bridge built?', /^The files/],
    ['Wann wurde die Brücke gebaut?', /^Die Dateien/],
    ['Quand le pont a-t-il été construit ?', /^Les fichiers/],
    ['桥是什么时候建的？', /^文件/],
    ['橋はいつ建てられましたか？', /^ファイル/],
    ['Cây cầu được xây khi nào?', /^Các tệp/],
    ['متى بني الجسر؟', /^لا تحتوي/],
    ['สะพานสร้างเมื่อไร', /^ไฟล์/],
    ['Коли збудували міст і чому?', /^У файлах/],
    ['Когда построили мост?', /^В файлах/],
    ['Xyzzy?', /^The files/],
  ])('to %s is in the language of the question', (question, sentence) => {
    expect(composeNoAnswer(question)).toMatch(sentence)
    expect(isNoAnswer(composeNoAnswer(question))).toBe(true)
  })

  test('is recognised in other words of a translation, and is not found in answers that state more', () => {
    expect(isNoAnswer('The files do not contain any answer to this question.')).toBe(true)
    expect(isNoAnswer('Die Dateien enthalten leider keine Antwort auf diese Frage.')).toBe(true)
    expect(isNoAnswer('The files contain the price list of 2024.')).toBe(false)
    expect(isNoAnswer('The answer is 42.')).toBe(false)
    expect(
      isNoAnswer(
        `The files do not contain an answer to this question. ${'However, the handbook says more. '.repeat(9)}`,
      ),
    ).toBe(false)
    expect(isNoAnswer('')).toBe(false)
  })
})
