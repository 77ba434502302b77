import { isLetterCode, isLineEndCode, partingHyphen, type PdfCharacter, PdfCharacters } from './character.ts'

/** Gaps and limits are shares of the height of letters. Letters of usual words are closer than this. */
const looseGap = 0.055
/** Kerning makes gaps narrower by less than this. */
const kernedGap = 0.2
/** Fewest glyphs of a run without a usual word in it. */
const minimumRun = 3
/** Fewest letters of a word that proves letter spacing; more where they are further apart than usual words. */
const minimumLetters = 4
/** More letters without a wider gap are a list of letters. */
const maximumLetters = 30
const minimumWideLetters = 6
const usualGap = 0.6
const widestGap = 2
/** Wide gaps between the letters of a word differ by less than this; those between the letters of a table do not. */
const evenGap = 0.05
/** The narrowest blank is wider than the widest gap between letters by this. */
const leastJump = 0.1
/** Gaps below this share of a run's are certainly between letters. */
const surelyLetters = 0.3
/** Most by which gaps of the same spacing differ. */
const sameSpacing = 0.15

/** What is drawn at one place: a letter with its marks, or the letters of a ligature. */
interface Glyph {
  from: number
  to: number
  isLetter: boolean
  isSign: boolean
  /** To the next glyph of the line; 0 for the last one. */
  gap: number
  /** The blank before the next glyph is added by PDFium, or drawn by the file. */
  blank: 'none' | 'added' | 'drawn'
}

/** Glyphs that are all apart from each other. */
interface Run {
  glyphs: readonly Glyph[]
  /** The usual gap between letters, and the widest one. */
  base: number
  limit: number
  /** It proves letter spacing without any other run. */
  isSure: boolean
  /** Its gaps are those between the words of its line. */
  isUsual: boolean
}

/**
 * The characters of a page with letter-spaced words (`C H A P T E R`) closed up, and their places before: without the blanks that PDFium
 * sees between their letters, and with wider letters instead of the gaps, which are no columns. Null where there are none.
 */
export function closeSpacedLetters(given: PdfCharacters): { characters: PdfCharacters; places: number[] } | null {
  const lines = [...looseLines(given)]
  if (!lines.some(({ loose }) => loose >= minimumRun - 1)) return null
  const runs = lines.flatMap(({ from, to }) => (isInOrder(given, from, to) ? runsOf(readGlyphs(given, from, to)) : []))
  const sure = runs.filter(({ isSure }) => isSure)
  if (sure.length === 0) return null
  const spacings = new Set(sure.map(({ base }) => Math.round(base * 20)))
  const isKnown = ({ base }: Run) => [-1, 0, 1].some((step) => spacings.has(Math.round(base * 20) + step))
  const characters = given.toArray()
  const dropped = new Set<number>()
  for (const run of runs) {
    if (!run.isSure && (run.isUsual || !isKnown(run))) continue
    closeRun(run, characters, dropped)
    markHyphen(run, characters)
  }
  if (dropped.size === 0) return null
  const places = Array.from(characters, (_, at) => at).filter((at) => !dropped.has(at))
  return { characters: PdfCharacters.of(places.map((at) => characters[at]!)), places }
}

/** The lines that have an added blank next to a letter that is apart from both its neighbours, and how many of those follow each other. */
function* looseLines(characters: PdfCharacters): Generator<{ from: number; to: number; loose: number }> {
  let from = 0
  let previous = -1
  let isApart = true
  let loose = 0
  let most = 0
  let hasBlank = false
  for (let at = 0; at <= characters.length; at += 1) {
    const code = at === characters.length ? 0x0a : characters.code(at)
    if (isLineEndCode(code) || code === partingHyphen || code === 0xfffe) {
      if (most > 0 && hasBlank) yield { from, to: at, loose: most }
      from = at + 1
      previous = -1
      loose = 0
      most = 0
      hasBlank = false
      continue
    }
    if (characters.isBlank(at)) {
      hasBlank ||= characters.isGenerated(at)
      continue
    }
    const wasApart = isApart
    isApart = previous === -1 || gapBetween(characters, previous, at) > looseGap
    loose = previous !== -1 && isApart && wasApart ? loose + 1 : 0
    most = Math.max(most, loose)
    previous = at
  }
}

/** In shares of the height; below 0 where they overlap. */
function gapBetween(characters: PdfCharacters, one: number, other: number): number {
  const across = horizontalGap(characters, one, other)
  const along = verticalGap(characters, one, other)
  // Turned text is as high as it is wide elsewhere.
  const height =
    across >= along ? characters.top(one) - characters.bottom(one) : characters.right(one) - characters.left(one)
  return height > 0 ? Math.max(across, along) / height : 0
}

function horizontalGap(characters: PdfCharacters, one: number, other: number): number {
  return Math.max(characters.left(other) - characters.right(one), characters.left(one) - characters.right(other))
}

function verticalGap(characters: PdfCharacters, one: number, other: number): number {
  return Math.max(characters.bottom(other) - characters.top(one), characters.bottom(one) - characters.top(other))
}

/** False where letters of another font were drawn behind all others. Numbers in right-to-left text go the other way. */
function isInOrder(characters: PdfCharacters, from: number, to: number): boolean {
  let previous = -1
  let hasForward = false
  let hasBackward = false
  for (let at = from; at < to; at += 1) {
    if (characters.isBlank(at)) continue
    if (previous !== -1) {
      hasForward ||= characters.left(at) >= characters.right(previous)
      hasBackward ||= characters.right(at) <= characters.left(previous)
    }
    previous = at
  }
  return !(hasForward && hasBackward) || characters.slice(from, to).hasRightToLeft()
}

function readGlyphs(characters: PdfCharacters, from: number, to: number): Glyph[] {
  const glyphs: Glyph[] = []
  for (let at = from; at < to; at += 1) {
    if (characters.isBlank(at)) continue
    const letter = String.fromCodePoint(Math.min(characters.code(at), 0x10ffff))
    const last = glyphs.at(-1)
    if (last && (characters.left(at) === characters.left(last.from) || /\p{M}/u.test(letter))) {
      last.to = at + 1
      continue
    }
    if (last) {
      last.gap = gapBetween(characters, last.to - 1, at)
      if (at > last.to) last.blank = characters.isGenerated(last.to) ? 'added' : 'drawn'
    }
    const isSign = !/[\p{L}\p{N}]/u.test(letter)
    glyphs.push({ from: at, to: at + 1, gap: 0, blank: 'none', isLetter: isLetterCode(characters.code(at)), isSign })
  }
  return glyphs
}

/** The runs of a line. Letters of usual words next to them are not in them. */
function runsOf(glyphs: readonly Glyph[]): Run[] {
  const isTight = (at: number) => at >= 0 && at < glyphs.length - 1 && glyphs[at]!.gap <= looseGap
  // One tight pair between letters that are a little apart, such as AV, is kerned.
  const isKerned = (at: number) =>
    ![-2, -1, 1, 2].some((by) => isTight(at + by)) &&
    [-1, 1].some((by) => at + by >= 0 && at + by < glyphs.length - 1 && glyphs[at + by]!.gap < kernedGap)
  const isEnd = (at: number) => at === glyphs.length - 1 || (isTight(at) && !isKerned(at))
  const runs: Run[] = []
  const wordGap = usualWordGap(glyphs)
  for (let from = 0; from < glyphs.length;) {
    let to = from
    while (!isEnd(to)) to += 1
    to += 1
    const first = isTight(from - 1) && !glyphs[from - 1]!.isSign ? from + 1 : from
    const last = isTight(to - 1) && !glyphs[to]!.isSign ? to - 1 : to
    if (last - first >= minimumRun) runs.push(measure(glyphs.slice(first, last), wordGap))
    from = to
  }
  return runs
}

/** The gap between words of letters that are not spaced; 0 where the line has none. */
function usualWordGap(glyphs: readonly Glyph[]): number {
  const gaps: number[] = []
  for (let at = 1; at + 2 < glyphs.length; at += 1)
    if (glyphs[at]!.blank !== 'none' && glyphs[at - 1]!.gap <= looseGap && glyphs[at + 1]!.gap <= looseGap)
      gaps.push(glyphs[at]!.gap)
  return quantile(gaps.sort(ascending), 0.5)
}

function measure(glyphs: readonly Glyph[], wordGap: number): Run {
  const inner = glyphs.slice(0, -1)
  const gaps = inner.flatMap(({ gap, blank }) => (blank === 'drawn' || gap <= looseGap ? [] : [gap])).sort(ascending)
  const base = quantile(gaps, surelyLetters)
  let limit = base
  for (const gap of gaps) {
    if (gap > limit + leastJump || gap > base * 2 + leastJump) break
    limit = Math.max(limit, gap)
  }
  const isBetween = ({ gap, blank }: Glyph) => gap <= limit && blank !== 'drawn'
  let letters = 0
  let most = 0
  for (const glyph of glyphs) {
    if (glyph.isLetter) most = Math.max(most, (letters += 1))
    if (!glyph.isLetter || !isBetween(glyph)) letters = 0
  }
  const isUsual = Math.abs(base - wordGap) < wordGap * sameSpacing
  const even = gaps.filter((gap) => Math.abs(gap - base) < base * evenGap).length
  const isProof =
    most <= maximumLetters &&
    (base <= usualGap
      ? most >= minimumLetters
      : base <= widestGap && most >= minimumWideLetters && even > gaps.filter((gap) => gap <= limit).length / 2)
  return { glyphs, base, limit, isSure: isProof && !(isUsual && inner.every(isBetween)), isUsual }
}

/** Drops the blanks between the letters of a run, and widens letters by the spacing. */
function closeRun({ glyphs, base, limit }: Run, characters: PdfCharacter[], dropped: Set<number>) {
  for (const [index, glyph] of glyphs.slice(0, -1).entries()) {
    const next = glyphs[index + 1]!
    if (glyph.blank !== 'drawn' && glyph.gap <= limit) {
      for (let at = glyph.to; at < next.from; at += 1) dropped.add(at)
      widen(characters, glyph, next, 1)
    } else if (glyph.gap > base) widen(characters, glyph, next, (glyph.blank === 'drawn' ? 2 : 1) * (base / glyph.gap))
  }
}

/** PDFium does not see that a hyphen behind a blank ends the line. */
function markHyphen({ glyphs }: Run, characters: PdfCharacter[]) {
  const { from, to } = glyphs.at(-1)!
  let next = to
  while (isLineEndCode(characters[next]?.code)) next += 1
  const isHyphen = characters[from]!.code === 0x2d && glyphs.at(-2)!.isLetter && next > to
  if (isHyphen && isLetterCode(characters[next]?.code)) characters[from] = { ...characters[from]!, code: partingHyphen }
}

/** Widens the characters of a glyph by a share of the gap to the next one. */
function widen(characters: PdfCharacter[], { from, to }: Glyph, next: Glyph, share: number) {
  const [one, other] = [characters[to - 1]!, characters[next.from]!]
  const sides = {
    right: other.left - one.right,
    left: one.left - other.right,
    top: other.bottom - one.top,
    bottom: one.bottom - other.top,
  }
  const [side, gap] = Object.entries(sides).reduce((widest, entry) => (entry[1] > widest[1] ? entry : widest))
  if (gap <= 0) return
  const by = Math.min(1, share) * gap * (side === 'left' || side === 'bottom' ? -1 : 1)
  for (let at = from; at < to; at += 1) {
    const character = characters[at]!
    characters[at] = { ...character, [side]: character[side as keyof typeof sides] + by }
  }
}

/** Of sorted values; 0 where there are none. */
function quantile(values: readonly number[], share: number): number {
  return values[Math.floor(values.length * share)] ?? 0
}

const ascending = (one: number, other: number) => one - other
