import { drawnLimits } from './thresholds.ts'

/** The functions of PDFium's C interface that read drawn paths. Pointers are byte offsets into the WebAssembly memory. */
export interface PathFunctions {
  HEAP32: Int32Array
  HEAPF32: Float32Array
  _FPDFPage_CountObjects(page: number): number
  _FPDFPage_GetObject(page: number, index: number): number
  _FPDFPageObj_GetType(object: number): number
  _FPDFPageObj_GetBounds(object: number, left: number, bottom: number, right: number, top: number): number
  _FPDFPageObj_GetMatrix(object: number, matrix: number): number
  _FPDFPath_GetDrawMode(path: number, fillMode: number, stroke: number): number
  _FPDFPath_CountSegments(path: number): number
  _FPDFPath_GetPathSegment(path: number, index: number): number
  _FPDFPathSegment_GetType(segment: number): number
  _FPDFPathSegment_GetPoint(segment: number, x: number, y: number): number
  _FPDFPathSegment_GetClose(segment: number): number
}

/** A straight line on the page, or an edge of a filled box; in page units (1/72 inch), y upwards. */
export interface Rule {
  horizontal: boolean
  /** Its y where it is horizontal, its x where it is vertical. */
  at: number
  from: number
  to: number
}

/** Codes of PDFium's public header fpdf_edit.h. */
export const objectTypes = { text: 1, path: 2, image: 3, shading: 4, form: 5 } as const
const lineTo = 0
const moveTo = 2

/** The horizontal and vertical lines among a page's own paths; those in form objects (mostly figures) are left out. */
export function readRules(pdfium: PathFunctions, page: number, scratch: number): Rule[] {
  const count = pdfium._FPDFPage_CountObjects(page)
  if (count > drawnLimits.objects) return []
  const rules: Rule[] = []
  for (let index = 0; index < count; index += 1) {
    const object = pdfium._FPDFPage_GetObject(page, index)
    if (object === 0 || pdfium._FPDFPageObj_GetType(object) !== objectTypes.path) continue
    if (isVisible(pdfium, object, scratch)) addLines(pdfium, object, scratch, rules)
    if (rules.length > drawnLimits.lines) return []
  }
  const joined = [...joinCollinear(rules, true), ...joinCollinear(rules, false)]
  return joined.length > drawnLimits.joined ? [] : joined
}

function isVisible(pdfium: PathFunctions, object: number, scratch: number): boolean {
  pdfium._FPDFPath_GetDrawMode(object, scratch, scratch + 4)
  return pdfium.HEAP32[scratch / 4] !== 0 || pdfium.HEAP32[scratch / 4 + 1] !== 0
}

function addLines(pdfium: PathFunctions, object: number, scratch: number, rules: Rule[]) {
  if (pdfium._FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) return
  const at = scratch / 4
  const [left, bottom, right, top] = pdfium.HEAPF32.subarray(at, at + 4) as unknown as [number, number, number, number]
  if (right - left <= drawnLimits.thickness || top - bottom <= drawnLimits.thickness)
    addLine({ x: left, y: bottom }, { x: right, y: top }, rules)
  else addEdges(pdfium, object, scratch, rules)
}

interface Point {
  x: number
  y: number
}

/** The straight edges of a path of any shape; its points are in the path's coordinates. */
function addEdges(pdfium: PathFunctions, object: number, scratch: number, rules: Rule[]) {
  const segments = pdfium._FPDFPath_CountSegments(object)
  if (segments < 2 || segments > drawnLimits.lines || pdfium._FPDFPageObj_GetMatrix(object, scratch) === 0) return
  const [a, b, c, d, e, f] = Array.from(pdfium.HEAPF32.subarray(scratch / 4, scratch / 4 + 6)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  let first: Point = { x: 0, y: 0 }
  let previous = first
  for (let index = 0; index < segments; index += 1) {
    const segment = pdfium._FPDFPath_GetPathSegment(object, index)
    pdfium._FPDFPathSegment_GetPoint(segment, scratch, scratch + 4)
    const x = pdfium.HEAPF32[scratch / 4]!
    const y = pdfium.HEAPF32[scratch / 4 + 1]!
    const point = { x: a * x + c * y + e, y: b * x + d * y + f }
    const type = pdfium._FPDFPathSegment_GetType(segment)
    if (type === moveTo) first = point
    else if (type === lineTo) addLine(previous, point, rules)
    if (pdfium._FPDFPathSegment_GetClose(segment) !== 0) addLine(point, first, rules)
    previous = point
    if (rules.length > drawnLimits.lines) return
  }
}

function addLine(one: Point, other: Point, rules: Rule[]) {
  const width = Math.abs(one.x - other.x)
  const height = Math.abs(one.y - other.y)
  if (height <= drawnLimits.thickness && width >= drawnLimits.length && width > height)
    rules.push({
      horizontal: true,
      at: (one.y + other.y) / 2,
      from: Math.min(one.x, other.x),
      to: Math.max(one.x, other.x),
    })
  else if (width <= drawnLimits.thickness && height >= drawnLimits.length && height > width)
    rules.push({
      horizontal: false,
      at: (one.x + other.x) / 2,
      from: Math.min(one.y, other.y),
      to: Math.max(one.y, other.y),
    })
}

/** Cells are often drawn each with its own borders: pieces of one line become one rule. */
function joinCollinear(rules: Rule[], horizontal: boolean): Rule[] {
  const sorted = rules.filter((rule) => rule.horizontal === horizontal).sort((one, other) => one.at - other.at)
  const joined: Rule[] = []
  let from = 0
  for (let index = 1; index <= sorted.length; index += 1) {
    if (index < sorted.length && sorted[index]!.at - sorted[from]!.at <= drawnLimits.thickness / 2) continue
    let last: Rule | null = null
    for (const rule of sorted.slice(from, index).sort((one, other) => one.from - other.from)) {
      if (last && rule.from <= last.to + drawnLimits.thickness) last.to = Math.max(last.to, rule.to)
      else joined.push((last = { ...rule }))
    }
    from = index
  }
  return joined
}

/** Turns rules into the frame of writing that goes in quarter turns on the page, as its characters are turned. */
export function turnRules(rules: Rule[], turns: number): Rule[] {
  return rules.map((rule) => {
    const { horizontal, at, from, to } = rule
    switch (turns) {
      case 1:
        return { horizontal: !horizontal, ...(horizontal ? { at, from: -to, to: -from } : { at: -at, from, to }) }
      case 2:
        return { horizontal, at: -at, from: -to, to: -from }
      case 3:
        return { horizontal: !horizontal, ...(horizontal ? { at: -at, from, to } : { at, from: -to, to: -from }) }
      default:
        return rule
    }
  })
}
