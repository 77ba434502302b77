import { type Language, tokenize } from '../language/index.ts'
import { numbersOf, readFigures } from './read-figures.ts'
import { isContentWord, isWhole, wordKeys } from './words.ts'

/** The cells of a passage's rows, by the words and numbers that name them. */
export interface Cells {
  places: readonly Cell[]
  /** The cells that have a word, by its keys, or a number. */
  ofKey: ReadonlyMap<string | number, readonly number[]>
}

interface Cell {
  row: number
  column: number
  text: string
  /** No part between commas: "Kigali" of "Amahoro Stadium, Kigali". */
  isWhole: boolean
  /** Its different words and numbers. */
  size: number
}

/** A longer cell is a text, which a sentence does not name. */
const maximumSize = 6
const remark = /\([^()]*\)/g

/** Most parts of a cell that are read. */
const maximumParts = 5

/** The cell, and its parts between commas. */
function partsOf(cell: string): string[] {
  const parts = cell.split(', ', maximumParts)
  return parts.length === 1 ? parts : [cell, ...parts]
}

/** Reads the cells with a word. `rows`: the texts of their cells. Linear in the text. */
export function readCells(rows: ReadonlyMap<number, readonly string[]>, latin: Language): Cells {
  const places: Cell[] = []
  const ofKey = new Map<string | number, number[]>()
  for (const [row, texts] of rows) {
    for (const [column, cell] of texts.entries()) {
      for (const [part, own] of partsOf(cell.replaceAll(remark, ' ')).entries()) {
        const words = [...new Set(tokenize(own, { singleCharacters: false }))].filter((word) =>
          isContentWord(word, latin),
        )
        const numbers = numbersOf(readFigures(own, latin, { asClaims: false }))
        const size = words.length + numbers.length
        if (words.length === 0 || size > maximumSize) continue
        const at = places.push({ row, column, size, text: own.trim().toLowerCase(), isWhole: part === 0 }) - 1
        for (const key of new Set([
          ...words.flatMap((word) => wordKeys(word, latin).filter(isWhole)),
          ...numbers.flat(),
        ])) {
          const known = ofKey.get(key)
          if (known) known.push(at)
          else ofKey.set(key, [at])
        }
      }
    }
  }
  return { places, ofKey }
}
