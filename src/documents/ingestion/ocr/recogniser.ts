import type { EncodedImage } from '../extractors/image/image-pages.ts'
import { languageOfText } from '../../../platform/language/index.ts'
import { type GreyImage, installedLanguages, loadOcrEngine, type OcrEngine } from './engine.ts'
import { isSideways, middleBand, type Turn, turnImage } from './turned-pages.ts'

/** A line of a picture; places in dots from its upper left corner. */
export interface RecognisedLine {
  text: string
  left: number
  top: number
  right: number
  bottom: number
}

export interface RecognisedPage {
  /** In reading order. */
  lines: RecognisedLine[]
  /** 0 to 100: how certain the words are, by their lengths; null: the service does not state it. */
  confidence: number | null
  languages: readonly string[]
  /** Of the picture that the places are in, where the page was turned to be read. */
  height?: number
}

/** A page that was recognised in an earlier run; its lines are places in a picture of this height and resolution. */
export interface KeptPage extends RecognisedPage {
  /** 1-based. */
  page: number
  height: number
  dotsPerInch: number
}

/** Recognises the pages of one document, which are in the same languages. */
export interface Recogniser {
  recognise(image: GreyImage | EncodedImage): Promise<RecognisedPage>
}

/** From here on the letters are of the right script, and the words show the language. */
const certainScript = 75
/** Fewer letters in a picture are parts of a photo, in every language. */
const minimumLetters = 20

/** Languages of which the words are known, by their codes for recognition. */
const codes: Record<string, string> = {
  ar: 'ara',
  bg: 'bul',
  da: 'dan',
  de: 'deu',
  el: 'ell',
  en: 'eng',
  es: 'spa',
  fa: 'fas',
  fi: 'fin',
  fr: 'fra',
  hi: 'hin',
  hu: 'hun',
  id: 'ind',
  it: 'ita',
  ja: 'jpn',
  ko: 'kor',
  nl: 'nld',
  no: 'nor',
  pt: 'por',
  ro: 'ron',
  ru: 'rus',
  sv: 'swe',
  tr: 'tur',
  uk: 'ukr',
}

/** Of the installed languages, those with Latin letters, as far as they are known. */
const latin = new Set([
  'ces',
  'dan',
  'deu',
  'eng',
  'fin',
  'fra',
  'hun',
  'ita',
  'nld',
  'nor',
  'pol',
  'por',
  'ron',
  'spa',
  'swe',
  'tur',
])
const isLatin = (language: string) => latin.has(language)

let engine: Promise<OcrEngine> | undefined

/**
 * `languages`: codes such as `deu`; those that are not installed are left out, and none means: find the language on the first page. `isPicture`: most
 * images are photos and drawings, so that one with few letters is read once.
 */
export function createRecogniser(languages: readonly string[], isPicture = false): Recogniser {
  const installed = installedLanguages()
  let chosen = languages.filter((language) => installed.includes(language))

  return {
    async recognise(given) {
      const loaded = await (engine ??= loadOcrEngine())
      const read: Read = (image, inLanguages) => readPage(loaded, image, inLanguages)
      if (chosen.length > 0) return readUpright(read, given, chosen).page
      const best = bestReading(read, given, installed, isPicture ? minimumLetters : 0)
      if (best.page.lines.length > 0 && (!isPicture || best.page.confidence >= certainScript)) chosen = [best.language]
      return best.page
    },
  }
}

type Image = GreyImage | EncodedImage
type EnginePage = RecognisedPage & { confidence: number }
type Read = (image: Image, languages: readonly string[]) => EnginePage

/** Reads a page as it is, or turned where that makes its words certain. */
function readUpright(read: Read, given: Image, languages: readonly string[]): { image: Image; page: EnginePage } {
  if (!('pixels' in given)) return { image: given, page: read(given, languages) }
  const findTurned = (turns: readonly Turn[]) => {
    for (const turn of turns) {
      const image = turnImage(given, turn)
      if (read(middleBand(image), languages).confidence >= certainScript)
        return { image, page: { ...read(image, languages), height: image.height } }
    }
    return undefined
  }
  // Read along its lines only: letters on their side take the engine three times as long.
  const fromSide = isSideways(given) ? findTurned([90, 270]) : undefined
  if (fromSide) return fromSide
  const page = read(given, languages)
  return (page.confidence < certainScript && findTurned([180])) || { image: given, page }
}

/** The page in the language of its words; if the letters are uncertain, in the language that is most certain. */
function bestReading(read: Read, given: Image, installed: readonly string[], fewestLetters: number) {
  const first = installed.includes('eng') ? 'eng' : installed[0]!
  const upright = readUpright(read, given, [first])
  let best = { language: first, page: upright.page }
  if (lettersOf(best.page) < fewestLetters) return best
  const tryIn = (language: string) => {
    const page = { ...upright.page, ...read(upright.image, [language]) }
    if (page.confidence > best.page.confidence) best = { language, page }
  }
  if (best.page.confidence >= certainScript) {
    const language = codes[languageOfText(best.page.lines.map(({ text }) => text).join('\n'))]
    if (language !== undefined && language !== first && installed.includes(language)) tryIn(language)
    return best
  }
  // Uncertain letters are more often those of another script than of a bad picture.
  for (const language of installed.toSorted((one, other) => Number(isLatin(one)) - Number(isLatin(other)))) {
    if (best.page.confidence >= certainScript) break
    if (language !== first) tryIn(language)
  }
  return best
}

const lettersOf = ({ lines }: RecognisedPage) => lines.reduce((sum, { text }) => sum + text.length, 0)

/** Scripts that are written without blanks: the engine returns a word for each few characters. */
const withoutBlanks = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

function readPage(engine: OcrEngine, image: GreyImage | EncodedImage, languages: readonly string[]): EnginePage {
  const lines: RecognisedLine[] = []
  let certainty = 0
  let characters = 0
  for (const row of engine.readTable(image, languages).split('\n')) {
    const [level, , , , , , left, top, width, height, confidence, text = ''] = row.split('\t')
    if (level === '4') {
      const place = { left: Number(left), top: Number(top) }
      lines.push({ ...place, right: place.left + Number(width), bottom: place.top + Number(height), text: '' })
    }
    const line = lines.at(-1)
    if (level !== '5' || !line || text.trim() === '') continue
    const joins = line.text === '' || (withoutBlanks.test(line.text.at(-1)!) && withoutBlanks.test(text[0]!))
    line.text += joins ? text : ` ${text}`
    certainty += Number(confidence) * text.length
    characters += text.length
  }
  return {
    lines: lines.filter(({ text }) => /[\p{L}\p{N}]/u.test(text)),
    confidence: characters === 0 ? 0 : certainty / characters,
    languages,
  }
}
