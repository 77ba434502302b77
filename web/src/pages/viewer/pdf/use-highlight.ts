import type { TextLayer } from 'pdfjs-dist'
import { type RefObject, useEffect, useState } from 'react'
import { findQuote, type QuotePart, type TextRange } from './find-quote.ts'

/** A passage on a page: its text, and its lines as boxes in percent of the page. */
export interface Highlight {
  text: string
  boxes: Box[]
}

export interface Box {
  left: number
  top: number
  width: number
  height: number
}

/** Most boxes of one highlight; a page has about 100 lines. */
const maximumBoxes = 500

/** Finds the quote in the text layer. Undefined: not searched yet, or nothing to find; null: not on this page. */
export function useHighlight(
  layer: TextLayer | undefined,
  quote: string | undefined,
  part: QuotePart,
  frame: RefObject<HTMLDivElement | null>,
): Highlight | null | undefined {
  const [highlight, setHighlight] = useState<Highlight | null>()
  useEffect(() => {
    if (!layer || !frame.current || quote === undefined) return setHighlight(undefined)
    setHighlight(locate(layer, { quote, part }, frame.current))
  }, [layer, quote, part, frame])
  return highlight
}

function locate(
  layer: TextLayer,
  { quote, part }: { quote: string; part: QuotePart },
  frame: HTMLElement,
): Highlight | null {
  const items = layer.textContentItemsStr as string[]
  const ranges = findQuote(items.join('\n'), quote, part).flatMap((range) => toDomRanges(layer, items, range))
  if (ranges.length === 0) return null
  const page = frame.getBoundingClientRect()
  const rectangles = ranges.flatMap((range) => [...range.getClientRects()]).slice(0, maximumBoxes)
  const boxes = joinLines(rectangles.filter(({ width, height }) => width > 0 && height > 0)).map((box) => ({
    left: ((box.left - page.left) / page.width) * 100,
    top: ((box.top - page.top) / page.height) * 100,
    width: ((box.right - box.left) / page.width) * 100,
    height: ((box.bottom - box.top) / page.height) * 100,
  }))
  return { text: ranges.map(String).join(' '), boxes }
}

/** A range of the joined items as one range for each element of the layer. */
function toDomRanges(layer: TextLayer, items: readonly string[], { start, end }: TextRange): Range[] {
  const ranges: Range[] = []
  let position = 0
  for (const [index, item] of items.entries()) {
    const from = Math.max(0, start - position)
    const to = Math.min(item.length, end - position)
    position += item.length + 1
    const text = (layer.textDivs as HTMLElement[])[index]?.firstChild
    if (from >= to || !text) continue
    const range = document.createRange()
    range.setStart(text, from)
    range.setEnd(text, to)
    ranges.push(range)
    if (position > end) break
  }
  return ranges
}

interface Edges {
  left: number
  right: number
  top: number
  bottom: number
}

/** Pieces of one line, in their order, become one box. */
function joinLines(rectangles: readonly DOMRect[]): Edges[] {
  const lines: Edges[] = []
  for (const { left, right, top, bottom } of rectangles) {
    const last = lines.at(-1)
    const overlap = last ? Math.min(last.bottom, bottom) - Math.max(last.top, top) : 0
    const isNear = last !== undefined && left - last.right < 2 * (bottom - top) && left >= last.left
    if (last && isNear && overlap > (bottom - top) / 2) {
      last.right = Math.max(last.right, right)
      last.top = Math.min(last.top, top)
      last.bottom = Math.max(last.bottom, bottom)
    } else lines.push({ left, right, top, bottom })
  }
  return lines
}
