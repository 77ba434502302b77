import { AnnotationMode, type PDFDocumentProxy, type PDFPageProxy, TextLayer } from 'pdfjs-dist'
import { type RefObject, useEffect, useState } from 'react'

/** In points, at least 1. */
export interface PageSize {
  width: number
  height: number
}

/** Most pixels of a canvas, and of one side: browsers refuse much larger ones. */
const maximumCanvasPixels = 16 * 1024 * 1024
const maximumCanvasSide = 8_192
/** A page that is not drawn by then is given up; usual pages take less than one second. */
const drawTimeoutMs = 20_000
/** Most pieces of text in the layer of a page: a full page of a newspaper has about 3,000. */
const maximumTextItems = 20_000

export function sizeOf(page: PDFPageProxy): PageSize {
  const { width, height } = page.getViewport({ scale: 1 })
  return { width: Math.max(1, width), height: Math.max(1, height) }
}

export function usePageProxy(
  pdf: PDFDocumentProxy,
  number: number,
  onSize: (number: number, size: PageSize) => void,
): PDFPageProxy | undefined {
  const [page, setPage] = useState<PDFPageProxy>()
  useEffect(() => {
    let isCurrent = true
    pdf.getPage(number).then(
      (loaded) => {
        if (!isCurrent) return
        onSize(number, sizeOf(loaded))
        setPage(loaded)
      },
      // The document was closed, or the page is damaged: its frame stays empty.
      () => {},
    )
    return () => void (isCurrent = false)
  }, [pdf, number, onSize])
  useEffect(() => () => void page?.cleanup(), [page])
  return page
}

/** Draws the page into a new canvas and then shows it, so that a zoom does not flicker. True: it could not be drawn. */
export function usePageCanvas(
  page: PDFPageProxy | undefined,
  scale: number,
  box: RefObject<HTMLDivElement | null>,
): boolean {
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    if (!page) return
    setFailed(false)
    const { width, height } = sizeOf(page)
    const density = densityOf(width * scale, height * scale)
    const viewport = page.getViewport({ scale: scale * density })
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.floor(viewport.width))
    canvas.height = Math.max(1, Math.floor(viewport.height))
    // pdf.js draws in slices of 15 ms, so the page stays responsive. Forms and notes are part of the picture; nothing reacts.
    const task = page.render({ canvas, viewport, annotationMode: AnnotationMode.ENABLE })
    let isCurrent = true
    const timer = setTimeout(() => {
      task.cancel()
      setFailed(true)
    }, drawTimeoutMs)
    task.promise
      .then(
        () => isCurrent && box.current?.replaceChildren(canvas),
        (error: unknown) =>
          isCurrent &&
          setFailed(!(error instanceof Error && error.name === 'RenderingCancelledException') || hasFailed),
      )
      .finally(() => clearTimeout(timer))
    return () => {
      isCurrent = false
      clearTimeout(timer)
      task.cancel()
    }
    // `hasFailed` only keeps a failure by timeout.
  }, [page, scale, box])
  return hasFailed
}

/** Device pixels for a CSS pixel, as many as the bounds of a canvas allow. */
function densityOf(width: number, height: number): number {
  return Math.min(
    Math.max(1, window.devicePixelRatio),
    Math.sqrt(maximumCanvasPixels / (width * height)),
    maximumCanvasSide / width,
    maximumCanvasSide / height,
  )
}

/** Fills the layer with the text of the page. Undefined until it is complete. */
export function useTextLayer(
  page: PDFPageProxy | undefined,
  box: RefObject<HTMLDivElement | null>,
): TextLayer | undefined {
  const [complete, setComplete] = useState<TextLayer>()
  useEffect(() => {
    const container = box.current
    if (!page || !container) return
    container.replaceChildren()
    const textContentSource = limitItems(page.streamTextContent())
    const layer = new TextLayer({ textContentSource, container, viewport: page.getViewport({ scale: 1 }) })
    layer.render().then(
      () => setComplete(layer),
      // Cancelled, or the page is damaged: it has no text to select.
      () => {},
    )
    return () => layer.cancel()
  }, [page, box])
  return complete
}

interface TextChunk {
  items: unknown[]
}

function limitItems(source: ReadableStream<TextChunk>): ReadableStream<TextChunk> {
  const reader = source.getReader()
  let left = maximumTextItems
  return new ReadableStream<TextChunk>({
    async pull(controller) {
      const { value, done } = await reader.read()
      if (done || left <= 0) {
        controller.close()
        if (!done) await reader.cancel(new Error('enough text'))
        return
      }
      controller.enqueue({ ...value, items: value.items.slice(0, left) })
      left -= value.items.length
    },
    cancel: (reason) => reader.cancel(reason as Error),
  })
}
