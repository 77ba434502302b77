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

/** How an answer states that its quotes may not answer the question, by language as above. */
const uncertain: Readonly<Record<Language, string>> = {
  en: 'The files may not answer this question. The closest passages are:',
  de: 'Die Dateien beantworten diese Frage vielleicht nicht. Am nächsten kommen diese Stellen:',
  fr: 'Les fichiers ne répondent peut-être pas à cette question. Les passages les plus proches :',
  es: 'Es posible que los archivos no respondan a esta pregunta. Los pasajes más cercanos:',
  it: 'I file potrebbero non rispondere a questa domanda. I passaggi più vicini:',
  pt: 'Os documentos talvez não respondam a esta pergunta. As passagens mais próximas:',
  nl: 'De bestanden beantwoorden deze vraag misschien niet. De passages die het dichtst in de buurt komen:',
  sv: 'Filerna besvarar kanske inte den här frågan. De närmaste avsnitten:',
  da: 'Filerne besvarer måske ikke dette spørgsmål. De nærmeste afsnit:',
  no: 'Filene besvarer kanskje ikke dette spørsmålet. De nærmeste avsnittene:',
  fi: 'Tiedostot eivät ehkä vastaa tähän kysymykseen. Lähimmät kohdat:',
  pl: 'Pliki mogą nie odpowiadać na to pytanie. Najbliższe fragmenty:',
  cs: 'Soubory možná na tuto otázku neodpovídají. Nejbližší pasáže:',
  ro: 'Este posibil ca fișierele să nu răspundă la această întrebare. Cele mai apropiate pasaje:',
  tr: 'Dosyalar bu soruyu yanıtlamıyor olabilir. En yakın bölümler:',
  hu: 'Lehet, hogy a fájlok nem válaszolnak erre a kérdésre. A legközelebbi részek:',
  vi: 'Các tệp có thể không trả lời câu hỏi này. Những đoạn gần nhất:',
  ca: 'És possible que els fitxers no responguin aquesta pregunta. Els passatges més propers:',
  ru: 'Возможно, в файлах нет ответа на этот вопрос. Самые близкие фрагменты:',
  uk: 'Можливо, у файлах немає відповіді на це запитання. Найближчі фрагменти:',
  el: 'Τα αρχεία ίσως δεν απαντούν σε αυτή την ερώτηση. Τα πιο κοντινά αποσπάσματα:',
  ar: 'قد لا تجيب الملفات عن هذا السؤال. أقرب المقاطع:',
  he: 'ייתכן שהקבצים אינם עונים על השאלה הזאת. הקטעים הקרובים ביותר:',
  hi: 'हो सकता है कि फ़ाइलें इस प्रश्न का उत्तर न दें। सबसे निकट अंश:',
  th: 'ไฟล์อาจไม่ตอบคำถามนี้ ข้อความที่ใกล้เคียงที่สุด:',
  zh: '文件可能没有回答这个问题。最接近的段落:',
  ja: 'ファイルはこの質問に答えていない可能性があります。最も近い箇所:',
  ko: '파일이 이 질문에 답하지 않을 수 있습니다. 가장 가까운 구절:',
}

/** The sentence before quotes that may not answer, in the language of the question. */
export function composeUncertain(question: string): string {
  return uncertain[languageOfText(question)] ?? uncertain[defaultLanguage]!
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
