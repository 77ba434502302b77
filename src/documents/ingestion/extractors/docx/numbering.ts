import { readWholeXml } from '../office-xml.ts'
import { isOn } from './form-fields.ts'
import { wordKind } from './word-kind.ts'

export interface DocxNumbering {
  /** Counts a paragraph and returns its displayed number or bullet; empty where it shows none. */
  next(numId: string, level: number): string
  /** The level that a paragraph style has in a list. */
  levelOfStyle(numId: string, styleId: string): number | null
}

interface Level {
  start: number
  format: string
  text: string
  isLegal: boolean
  /** Level after which it starts again; null for any higher one, 0 for never. */
  restart: number | null
  style: string | null
}

interface AbstractList {
  levels: Map<number, Level>
  /** A numbering style in whose list the levels are. */
  styleLink: string | null
  style: string | null
}

interface List {
  abstractId: string
  starts: Map<number, number>
  overrides: Map<number, Level>
}

const maximumLevels = 9

/** Reads the numbering part; an absent one defines no list. */
export async function readNumbering(pieces: AsyncIterable<string>): Promise<DocxNumbering> {
  const abstractLists = new Map<string, AbstractList>()
  const lists = new Map<string, List>()
  let abstractList: AbstractList | null = null
  let list: List | null = null
  let overridden: number | null = null
  let level: Level | null = null
  await readWholeXml(
    pieces,
    {
      open(name, attribute) {
        const value = attribute('val')
        switch (name) {
          case 'w:abstractNum':
            abstractList = { levels: new Map(), styleLink: null, style: null }
            abstractLists.set(attribute('abstractNumId') ?? '', abstractList)
            return
          case 'w:num':
            list = { abstractId: '', starts: new Map(), overrides: new Map() }
            lists.set(attribute('numId') ?? '', list)
            return
          case 'w:abstractNumId':
            if (list) list.abstractId = value ?? ''
            return
          case 'w:numStyleLink':
            if (abstractList) abstractList.styleLink = value ?? null
            return
          case 'w:styleLink':
            if (abstractList) abstractList.style = value ?? null
            return
          case 'w:lvlOverride':
            overridden = Number(attribute('ilvl'))
            return
          case 'w:startOverride':
            if (list && overridden !== null) list.starts.set(overridden, wholeNumber(value, 1))
            return
          case 'w:lvl': {
            level = { start: 1, format: 'decimal', text: '', isLegal: false, restart: null, style: null }
            const at = Number(attribute('ilvl'))
            if (list) list.overrides.set(at, level)
            else abstractList?.levels.set(at, level)
            return
          }
          default:
            if (level) readLevel(level, name, value)
        }
      },
      close(name) {
        if (name === 'w:abstractNum') abstractList = null
        else if (name === 'w:num') list = null
        else if (name === 'w:lvlOverride') overridden = null
        else if (name === 'w:lvl') level = null
      },
    },
    wordKind,
  )
  return createNumbering(abstractLists, lists)
}

function readLevel(level: Level, name: string, value: string | undefined) {
  if (name === 'w:start') level.start = wholeNumber(value, 1)
  else if (name === 'w:numFmt') level.format = value ?? 'decimal'
  else if (name === 'w:lvlText') level.text = (value ?? '').slice(0, 100)
  else if (name === 'w:isLgl') level.isLegal = isOn(value)
  else if (name === 'w:lvlRestart') level.restart = wholeNumber(value, 0)
  else if (name === 'w:pStyle') level.style = value ?? null
}

function createNumbering(abstractLists: Map<string, AbstractList>, lists: Map<string, List>): DocxNumbering {
  /** Counts by abstract list: lists made from the same one share the count. */
  const counts = new Map<string, (number | undefined)[]>()
  const started = new Set<string>()

  const resolved = new Map<string, ReturnType<typeof resolve>>()

  function find(numId: string) {
    if (!resolved.has(numId)) resolved.set(numId, resolve(numId))
    return resolved.get(numId)
  }

  function resolve(numId: string) {
    const list = lists.get(numId)
    const own = list && abstractLists.get(list.abstractId)
    if (!list || !own) return undefined
    if (own.styleLink === null) return { list, abstractId: list.abstractId, levels: own.levels }
    for (const [abstractId, other] of abstractLists)
      if (other.style === own.styleLink) return { list, abstractId, levels: other.levels }
    return { list, abstractId: list.abstractId, levels: own.levels }
  }

  return {
    next(numId, at) {
      const found = find(numId)
      if (!found || !(at >= 0 && at < maximumLevels)) return ''
      const { list, abstractId, levels } = found
      const levelAt = (index: number) => list.overrides.get(index) ?? levels.get(index)
      const level = levelAt(at)
      if (!level) return ''
      const current = counts.get(abstractId) ?? []
      counts.set(abstractId, current)
      const override = list.starts.get(at)
      const isFirst = !started.has(`${numId} ${at}`)
      started.add(`${numId} ${at}`)
      const previous = current[at]
      if (override !== undefined && isFirst) current[at] = override
      else current[at] = previous === undefined ? level.start : previous + 1
      for (let deeper = at + 1; deeper < maximumLevels; deeper += 1) {
        const { restart } = levelAt(deeper) ?? { restart: null }
        if (restart === null || (restart > 0 && at < restart)) current[deeper] = undefined
      }
      if (level.format === 'bullet') return bullet(level.text)
      if (level.format === 'none') return level.text.replace(/%\d/g, '').trim()
      return level.text.replace(/%([1-9])/g, (_, digit: string) => {
        const index = Number(digit) - 1
        const other = levelAt(index)
        const count = current[index] ?? other?.start ?? 1
        return formatCount(count, level.isLegal ? 'decimal' : (other?.format ?? 'decimal'))
      })
    },
    levelOfStyle(numId, styleId) {
      for (const [index, level] of find(numId)?.levels ?? []) if (level.style === styleId) return index
      return null
    },
  }
}

/** Bullets of symbol fonts have codes without a meaning. */
function bullet(text: string): string {
  return /^[^\p{Co}\p{Cc}\s]$/u.test(text) && text !== 'o' && text !== '§' ? text : '•'
}

const countFormats: Readonly<Record<string, (count: number) => string>> = {
  lowerLetter: letters,
  upperLetter: (count) => letters(count).toUpperCase(),
  lowerRoman: roman,
  upperRoman: (count) => roman(count).toUpperCase(),
  decimalZero: (count) => String(count).padStart(2, '0'),
  ordinal: (count) => `${count}.`,
  none: () => '',
}

function formatCount(count: number, format: string): string {
  return Object.hasOwn(countFormats, format) ? countFormats[format]!(count) : String(count)
}

/** a to z, then aa, bb: as Word counts. */
function letters(count: number): string {
  if (count < 1 || count > 26 * 20) return String(count)
  return String.fromCharCode(97 + ((count - 1) % 26)).repeat(Math.ceil(count / 26))
}

const romanDigits: [number, string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]

function roman(count: number): string {
  if (count < 1 || count > 5_000) return String(count)
  let rest = count
  let text = ''
  for (const [value, digit] of romanDigits)
    while (rest >= value) {
      text += digit
      rest -= value
    }
  return text
}

function wholeNumber(value: string | undefined, fallback: number): number {
  const number = Number(value)
  return Number.isInteger(number) && number >= 0 && number < 1_000_000 ? number : fallback
}
