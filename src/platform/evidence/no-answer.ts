import { defaultLanguage, type Language, languageOfText, tokenize } from '../language/index.ts'

/** How an answer states that the files do not hold it, by language (ISO 639-1). Other languages get the English sentence. */
const noAnswer: Readonly<Record<Language, string>> = {
  en: 'The files do not contain an answer to this question.',
  de: 'Die Dateien enthalten keine Antwort auf diese Frage.',
  fr: 'Les fichiers ne contiennent pas de réponse à cette question.',
  es: 'Los archivos no contienen ninguna respuesta a esta pregunta.',
  it: 'I file non contengono una risposta a questa domanda.',
  pt: 'Os documentos não contêm uma resposta a esta pergunta.',
  nl: 'De bestanden bevatten geen antwoord op deze vraag.',
  sv: 'Filerna innehåller inget svar på den här frågan.',
  da: 'Filerne indeholder ikke noget svar på dette spørgsmål.',
  no: 'Filene inneholder ikke noe svar på dette spørsmålet.',
  fi: 'Tiedostoissa ei ole vastausta tähän kysymykseen.',
  pl: 'Pliki nie zawierają odpowiedzi na to pytanie.',
  cs: 'Soubory neobsahují odpověď na tuto otázku.',
  ro: 'Fișierele nu conțin un răspuns la această întrebare.',
  tr: 'Dosyalarda bu sorunun cevabı bulunmuyor.',
  hu: 'A fájlok nem tartalmaznak választ erre a kérdésre.',
  vi: 'Các tệp không chứa câu trả lời cho câu hỏi này.',
  ca: 'Els fitxers no contenen cap resposta a aquesta pregunta.',
  ru: 'В файлах нет ответа на этот вопрос.',
  uk: 'У файлах немає відповіді на це запитання.',
  el: 'Τα αρχεία δεν περιέχουν απάντηση σε αυτή την ερώτηση.',
  ar: 'لا تحتوي الملفات على إجابة عن هذا السؤال.',
  he: 'הקבצים אינם מכילים תשובה לשאלה הזאת.',
  hi: 'फ़ाइलों में इस प्रश्न का उत्तर नहीं है।',
  th: 'ไฟล์ไม่มีคำตอบสำหรับคำถามนี้',
  zh: '文件中没有这个问题的答案。',
  ja: 'ファイルにはこの質問の答えがありません。',
  ko: '파일에는 이 질문에 대한 답이 없습니다.',
}

/** The sentence in the language of the question. */
export function composeNoAnswer(question: string): string {
  return noAnswer[languageOfText(question)] ?? noAnswer[defaultLanguage]!
}

/** The English sentence, which a prompt lets a model translate. */
export const englishNoAnswer = noAnswer[defaultLanguage]!

/** A longer text states more than that there is no answer, UTF-16 units. */
const maximumUnits = 200
/** Share of words that the text and the sentence must have in common (Dice coefficient): models word a translation slightly differently. */
const minimumOverlap = 0.6

/** Whether a whole answer states only that the files do not hold one, in any of the languages above. */
export function isNoAnswer(answer: string): boolean {
  const text = answer.slice(0, maximumUnits + 1).trim()
  if (text.length > maximumUnits) return false
  const words = wordSet(text)
  return Object.values(noAnswer).some((sentence) => overlap(words, wordSet(sentence)) >= minimumOverlap)
}

function wordSet(text: string): Set<string> {
  return new Set(tokenize(text, { singleCharacters: false }))
}

function overlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const shared = [...left].filter((word) => right.has(word)).length
  return (2 * shared) / (left.size + right.size || 1)
}
