import { describe, expect, test } from 'vitest'
import { countImplausibleWords, countPieces } from './implausible-words.ts'

describe('words that no language has are counted', () => {
  test.each([
    ['letters of a script that the rest does not have', 'मनुष㝍यों को परस㡍पर उन⡍हें भाव से', 3],
    ['letters of two scripts in turns', 'गौl0वl के लिए доlговор הaבlדול', 3],
    ['phonetic letters', 'अɚध ɛद बत वर', 2],
    ['digits and symbols between letters', 'बु1द्धि अधि✿कार और देश', 2],
    ['vowel signs without their letter', 'ीं के ंच है', 2],
    ['lost letters', 'अधि\ufffdकार o\ufffdce agr\u0092able है', 3],
    ['last letters at the beginning', 'םויב הבישיה ךלוה', 2],
  ])('%s', (_, text, implausible) => {
    expect(countImplausibleWords(text)).toEqual({ words: expect.any(Number), implausible })
  })
})

test.each([
  'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। कक्षा 10 PDFमें',
  'הישיבה תתקיים ביום חמישי באולם הגדול של ה-PDF, 18 ימים, ב־2024 (סעיף 4ב)',
  'سيعقد الاجتماع يوم الخميس في القاعة الكبيرة. ۲۰۲۴ کتاب‌ها می‌شود COVID-19',
  '使用PDF文件α的第3条规定。プロジェクトのＡＢＣ、한국어PDF를 사용',
  'การประชุมจะจัดขึ้นในวันพฤหัสบดีที่ห้องโถงใหญ่ ใช้PDF2ไฟล์',
  'Договор №5 от 12.03.2024, IT-отдел, 5µm Δt λx CO₂ naïve ☐Ja ©2024 ™',
  ' Home • point ½ 20 °C „Größe“ l’été\u00a0: 5–7 €',
])('no word of a usual text is implausible: %s', (text) => {
  expect(countImplausibleWords(text).implausible).toBe(0)
})

test('single letters in a row are words in pieces', () => {
  expect(countPieces('T h e meeting: o f t h e b o a r d.')).toEqual({ words: 14, pieces: 10 })
  expect(countPieces('see a b c and J. R. R. Tolkien, 第 一 章 目 录 x')).toEqual({ words: 15, pieces: 0 })
})
