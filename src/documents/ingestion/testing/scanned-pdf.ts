import type { PageImage } from '../extractors/pdf/render.ts'
import { buildPdf, type PdfText } from './build-documents.ts'
import { drawPages } from './build-images.ts'

/** A pdf of scanned pages: these texts, drawn as pictures. `blur` leaves one of so many dots in each direction. */
export async function buildScannedPdf(pages: PdfText[][], { blur = 1 } = {}): Promise<Buffer> {
  const images = await drawPages(pages)
  const kids = images.map((_, index) => `${3 + index * 3} 0 R`).join(' ')
  return buildPdf([
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: `<< /Type /Pages /Kids [${kids}] /Count ${images.length} >>` },
    ...images.flatMap((image, index) => {
      const { width, height, pixels } = everyDot(image, blur)
      return [
        {
          dictionary: `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${4 + index * 3} 0 R /Resources << /XObject << /Scan ${5 + index * 3} 0 R >> >> >>`,
        },
        { dictionary: '<< >>', stream: '612 0 0 792 0 0 cm /Scan Do' },
        {
          dictionary: `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 >>`,
          stream: pixels,
        },
      ]
    }),
  ])
}

function everyDot({ width, height, pixels }: PageImage, step: number) {
  const narrow = Math.floor(width / step)
  const low = Math.floor(height / step)
  const kept = Buffer.alloc(narrow * low)
  for (let row = 0; row < low; row += 1)
    for (let column = 0; column < narrow; column += 1)
      kept[row * narrow + column] = pixels[row * step * width + column * step]!
  return { width: narrow, height: low, pixels: kept }
}
