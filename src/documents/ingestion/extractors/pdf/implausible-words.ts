/** Words of languages that write no blanks have about this many letters. */
const lettersOfWord = 5
/** Most digits and signs within a word that are looked through. */
const maximumInserted = 3

/** A letter with its marks, and a sign. */
const maximumPiece = 8

const eastAsian = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo']
/** Scripts whose vowel signs follow a letter of theirs. */
const withVowelSigns = [
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Thai',
  'Lao',
  'Tibetan',
  'Myanmar',
  'Khmer',
]
/** Scripts that write no blanks between words, so that Latin words have none around them either. */
const withoutBlanks = ['Thai', 'Lao', 'Myanmar', 'Khmer']
const others = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Georgian', 'Ethiopic']
const patterns = [...others, ...withVowelSigns, ...eastAsian].map((name) => ({
  script: eastAsian.includes(name) ? 'East Asian' : name,
  pattern: new RegExp(`\\p{Script=${name}}`, 'u'),
}))

/** What a character is in a word. */
interface Sign {
  /** Null for digits and signs of all scripts. */
  script: string | null
  isLetter: boolean
  isMark: boolean
  /** It stands for a letter that was lost. */
  isDamaged: boolean
  /** No word has it between its letters. */
  isForeign: boolean
}

/** By code, each classified once; a text with more than these codes begins again. */
const signs = new Map<string, Sign>()
const maximumSigns = 20_000

/**
 * The words of a text, and how many of them hold letters that do not belong together: what remains if a font states wrong letters for
 * some of its glyphs. Latin words are damaged only by lost letters; see `isPlausibleText` for the others.
 */
export function countImplausibleWords(text: string): { words: number; implausible: number } {
  if (!/[^\0-\x7f\xa0-\u024f\u2000-\u206f]/.test(text)) return { words: 0, implausible: 0 }
  let words = 0
  let implausible = 0
  for (const [word] of text.matchAll(/\S+/g)) {
    const { letters, faults } = usualLatin.test(word) ? { letters: word.length, faults: 0 } : checkWord(word)
    if (letters < 2) continue
    const size = Math.max(1, Math.round(letters / (lettersOfWord * 2)))
    words += size
    implausible += Math.min(size, faults)
  }
  return { words, implausible }
}

/** Fewer single letters one after the other are initials, or names of quantities. */
const minimumRow = 4
const singleLetter = /^\p{L}\p{M}*[.,;:]?$/u
const wholeWord = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** How many of the words of a text are single letters in a row: words in pieces. */
export function countPieces(text: string): { words: number; pieces: number } {
  let words = 0
  let pieces = 0
  let row = 0
  for (const [word] of text.matchAll(/\S+/g)) {
    words += 1
    const isPiece = word.length <= maximumPiece && singleLetter.test(word) && !wholeWord.test(word)
    row = isPiece ? row + 1 : 0
    if (row >= minimumRow) pieces += row === minimumRow ? minimumRow : 1
  }
  return { words, pieces }
}

const usualLatin = /^[\0-\x7f\xa0-\u024f]+$/

function checkWord(word: string): { letters: number; faults: number } {
  let letters = 0
  let faults = 0
  let changes = 0
  let inserted = 0
  let hasForeign = false
  let last: Sign | null = null
  let lastLetter: Sign | null = null
  let lastCode = ''
  for (const code of word) {
    const sign = signOf(code)
    if (sign.isDamaged && last?.isLetter) faults += 1
    else if (sign.isMark && sign.script !== null && !carries(last, lastCode, sign)) faults += 1
    else if (sign.isLetter && lastLetter !== null) {
      if (isFinal.test(lastCode) && sign.script === lastLetter.script) faults += 1
      if (sign.script !== lastLetter.script) {
        const kind = inserted === 0 ? changeOf(lastLetter, sign) : 'usual'
        if (kind === 'impossible') faults += 1
        else if (kind === 'rare') changes += 1
      } else if (hasForeign && inserted <= maximumInserted && withVowelSigns.includes(sign.script!)) faults += 1
    }
    if (sign.isLetter || (sign.isMark && sign.script !== null)) {
      letters += 1
      lastLetter = sign.isLetter ? sign : lastLetter
      inserted = 0
      hasForeign = false
    } else if (!sign.isMark && !/\p{Cf}/u.test(code)) {
      inserted += 1
      hasForeign ||= sign.isForeign
    }
    last = sign
    lastCode = code
  }
  // One change is a word with an ending of another language.
  return { letters, faults: faults + (changes > 1 ? changes : 0) }
}

/** Letters that are only at the end of words. */
const isFinal = /[\u05da\u05dd\u05df\u05e3\u05e5\u0629]/

/** True where a vowel sign can follow. */
function carries(before: Sign | null, code: string, mark: Sign): boolean {
  if (!withVowelSigns.includes(mark.script!)) return true
  return (before !== null && before.script === mark.script) || /[\u25cc\u00a0\u200b-\u200d\u2060]/.test(code)
}

function changeOf({ script: one }: Sign, { script: other }: Sign): 'usual' | 'rare' | 'impossible' {
  const pair = [one, other]
  const isOf = (names: readonly string[]) => pair.some((name) => name !== null && names.includes(name))
  const isLatin = pair.includes('Latin')
  if (isLatin && isOf(['Greek', 'East Asian', ...withoutBlanks])) return 'usual'
  if (isOf(['East Asian']) && isOf(['Greek', 'Cyrillic'])) return 'usual'
  return isLatin ? 'rare' : 'impossible'
}

function signOf(code: string): Sign {
  let sign = signs.get(code)
  if (!sign) {
    if (signs.size >= maximumSigns) signs.clear()
    signs.set(code, (sign = classify(code)))
  }
  return sign
}

function classify(code: string): Sign {
  const isPhonetic = /[\u0250-\u02af]/.test(code)
  return {
    script: isPhonetic ? 'Phonetic' : (patterns.find(({ pattern }) => pattern.test(code))?.script ?? null),
    isLetter: /\p{L}/u.test(code),
    isMark: /\p{M}/u.test(code),
    isDamaged: /[\u0080-\u009f\ue000-\uefff\ufffd\u{f0000}-\u{10ffff}]/u.test(code),
    isForeign: code !== '|' && /[0-9%*@#?/&]|\p{So}|\p{Sm}/u.test(code),
  }
}
