import { getDocument, GlobalWorkerOptions, type PDFDocumentProxy, ResponseException } from 'pdfjs-dist'
import { useEffect, useState } from 'react'
import { AssetFactory, workerUrl } from './pdf-assets.ts'

GlobalWorkerOptions.workerSrc = workerUrl

/** `removed`: the file is gone; `replaced`: it is another file now; `unreadable`: it is no pdf, or damaged. */
export type PdfFailure = 'removed' | 'replaced' | 'locked' | 'unreadable'

export type PdfState =
  | { status: 'loading' }
  | { status: 'ready'; pdf: PDFDocumentProxy }
  | { status: 'failed'; reason: PdfFailure }

/** Pixels of one decoded image; a larger one is not drawn. */
const maximumImagePixels = 64 * 1024 * 1024
const rangeBytes = 256 * 1024

/**
 * Opens a pdf with pdf.js, in its worker. Scripts, actions and forms of the file are never run: only pages are drawn. Pages are loaded
 * by byte ranges, when they are shown.
 */
export function usePdf(url: string): PdfState {
  const [state, setState] = useState<PdfState>({ status: 'loading' })
  useEffect(() => {
    let isCurrent = true
    setState({ status: 'loading' })
    const task = getDocument({
      url,
      isEvalSupported: false,
      enableXfa: false,
      disableAutoFetch: true,
      disableStream: true,
      rangeChunkSize: rangeBytes,
      maxImageSize: maximumImagePixels,
      canvasMaxAreaInBytes: maximumImagePixels * 4,
      useWorkerFetch: false,
      cMapUrl: 'cmaps/',
      standardFontDataUrl: 'standard_fonts/',
      wasmUrl: 'wasm/',
      BinaryDataFactory: AssetFactory,
      verbosity: 0,
    })
    // Encrypted files are rejected at upload, so there is nothing to type a password for.
    task.onPassword = () => {
      if (isCurrent) setState({ status: 'failed', reason: 'locked' })
      void task.destroy()
    }
    task.promise.then(
      (pdf) => isCurrent && setState({ status: 'ready', pdf }),
      (error: unknown) =>
        isCurrent &&
        setState((before) => (before.status === 'failed' ? before : { status: 'failed', reason: reasonOf(error) })),
    )
    return () => {
      isCurrent = false
      void task.destroy()
    }
  }, [url])
  return state
}

function reasonOf(error: unknown): PdfFailure {
  if (!(error instanceof ResponseException)) return 'unreadable'
  return error.status === 404 ? 'removed' : error.status === 409 ? 'replaced' : 'unreadable'
}
