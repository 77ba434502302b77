import { PDFiumModule } from '@hyzyla/pdfium'

interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

/** What is used of PDFium's interface; see document.ts. */
interface Pdfium {
  HEAPU8: Uint8Array
  HEAPU32: Uint32Array
  wasmExports: { memory: WasmMemory }
  _PDFium_Init?(): void
  _malloc(bytes: number): number
  _free(pointer: number): void
  _FPDF_LoadMemDocument(data: number, bytes: number, password: number): number
  _FPDF_LoadPage(document: number, index: number): number
  _FPDF_ClosePage(page: number): void
  _FPDFPage_GetAnnot(page: number, index: number): number
  _FPDFPage_CloseAnnot(annotation: number): void
  _FPDFAnnot_GetFileAttachment(annotation: number): number
  _FPDFDoc_GetAttachment(document: number, index: number): number
  _FPDFAttachment_GetFile(attachment: number, buffer: number, bytes: number, length: number): number
}

/** Where a file is: in the list of the document, or among the annotations of a page (both from 0). */
export interface AttachmentPlace {
  page?: number
  index: number
}

/** PDFium unpacks a file in pieces that it joins, next to the copy that it returns: three times its bytes, and its own memory. */
const copies = 3
const ownBytes = 32 * 1024 * 1024
/** An instance that a file has stopped is lost, with its memory until it is collected. */
const maximumStops = 3

/**
 * Reads files that are attached to a pdf in a separate instance of PDFium: PDFium unpacks a file as a whole, and one that does not fit into the
 * instance's memory stops it for good. The pages are read elsewhere.
 */
export function createAttachmentReader(bytes: Uint8Array) {
  let opened: Awaited<ReturnType<typeof open>> | null = null
  let stops = 0

  async function open(maximumBytes: number) {
    const pdfium = (await PDFiumModule({ print() {}, printErr() {} } as object)) as unknown as Pdfium
    boundMemory(pdfium.wasmExports.memory, bytes.length + copies * maximumBytes + ownBytes)
    pdfium._PDFium_Init?.()
    const data = pdfium._malloc(bytes.length)
    pdfium.HEAPU8.set(bytes, data)
    return {
      pdfium,
      maximumBytes,
      document: pdfium._FPDF_LoadMemDocument(data, bytes.length, 0),
      page: { index: -1, handle: 0 },
    }
  }

  return {
    /** Null where the file is not in the pdf, is damaged, or has more bytes. */
    async read(place: AttachmentPlace, maximumBytes: number): Promise<Buffer | null> {
      if (maximumBytes <= 0 || stops === maximumStops) return null
      try {
        opened ??= await open(maximumBytes)
        return readPlace(opened, place, Math.min(maximumBytes, opened.maximumBytes))
      } catch (error) {
        if (!(error instanceof Error && error.name === 'RuntimeError')) throw error
        opened = null
        stops += 1
        return null
      }
    },
  }
}

/** PDFium's memory grows by this function alone, and reports where it fails. */
function boundMemory(memory: WasmMemory, maximumBytes: number): void {
  const grow = memory.grow.bind(memory)
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * 65_536 > maximumBytes) throw new RangeError('a file in the pdf is too large')
    return grow(pages)
  }
}

interface OpenedPdf {
  pdfium: Pdfium
  document: number
  /** The page that was read last. */
  page: { index: number; handle: number }
}

function readPlace({ pdfium, document, page }: OpenedPdf, place: AttachmentPlace, maximumBytes: number): Buffer | null {
  if (place.page === undefined)
    return readFile(pdfium, pdfium._FPDFDoc_GetAttachment(document, place.index), maximumBytes)
  if (page.index !== place.page) {
    if (page.handle !== 0) pdfium._FPDF_ClosePage(page.handle)
    page.index = place.page
    page.handle = pdfium._FPDF_LoadPage(document, place.page)
  }
  const annotation = page.handle === 0 ? 0 : pdfium._FPDFPage_GetAnnot(page.handle, place.index)
  if (annotation === 0) return null
  try {
    return readFile(pdfium, pdfium._FPDFAnnot_GetFileAttachment(annotation), maximumBytes)
  } finally {
    pdfium._FPDFPage_CloseAnnot(annotation)
  }
}

function readFile(pdfium: Pdfium, attachment: number, maximumBytes: number): Buffer | null {
  if (attachment === 0) return null
  const length = pdfium._malloc(4)
  if (pdfium._FPDFAttachment_GetFile(attachment, 0, 0, length) === 0) return null
  const bytes = pdfium.HEAPU32[length / 4]!
  if (bytes > maximumBytes) return null
  const buffer = pdfium._malloc(bytes)
  if (buffer === 0) return null
  const isRead = pdfium._FPDFAttachment_GetFile(attachment, buffer, bytes, length) !== 0
  const content = isRead ? Buffer.from(pdfium.HEAPU8.subarray(buffer, buffer + bytes)) : null
  pdfium._free(buffer)
  pdfium._free(length)
  return content
}
