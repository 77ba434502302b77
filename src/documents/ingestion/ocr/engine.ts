import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { EncodedImage } from '../extractors/image/image-pages.ts'

/**
 * Tesseract, the engine of text recognition, as WebAssembly, and the data of its languages. `npm run install:ocr` installs them in a
 * separate folder, because `npm ci` removes what it does not know.
 */

export const ocrFolder = path.resolve(import.meta.dirname, '../../../../deploy/ocr')
const packagesFolder = path.join(ocrFolder, 'node_modules')
const dataFolder = path.join(packagesFolder, '@tesseract.js-data')
const enginePackage = 'tesseract.js-core'

/** A picture in shades of grey, row by row from the top. */
export interface GreyImage {
  width: number
  height: number
  dotsPerInch: number
  pixels: Uint8Array
}

/** What is used of the engine's interface. */
interface Tesseract {
  FS: { writeFile(name: string, bytes: Uint8Array): void; unlink(name: string): void }
  TessBaseAPI: new () => {
    Init(folder: string | null, languages: string, mode: number): number
    SetVariable(name: string, value: string): void
    SetImageFile(orientation: number, angle: number, upscale: boolean): number
    Recognize(monitor: null): number
    GetTSVText(page: number): string
    Clear(): void
    End(): void
  }
}

/** The mode of neural networks, which is all that the engine's build and data have. */
const neuralNetworks = 1
const imageFile = '/input'

export function isOcrInstalled(): boolean {
  return existsSync(path.join(packagesFolder, enginePackage)) && installedLanguages().length > 0
}

/** Codes of three letters, such as `eng` and `deu`. */
export function installedLanguages(): string[] {
  return existsSync(dataFolder) ? readdirSync(dataFolder).filter((name) => existsSync(dataFile(name))) : []
}

/** The more exact of the two kinds of networks, with whole numbers. */
function dataFile(language: string): string {
  return path.join(dataFolder, language, '4.0.0_best_int', `${language}.traineddata.gz`)
}

export type OcrEngine = Awaited<ReturnType<typeof loadOcrEngine>>

/** Loads the engine: about 0.3 s. Languages are loaded when they are used first. */
export async function loadOcrEngine() {
  const load = createRequire(path.join(ocrFolder, 'package.json'))(`${enginePackage}/tesseract-core-simd-lstm.js`) as (
    options: object,
  ) => Promise<Tesseract>
  const tesseract = await load({ print() {}, printErr() {} })
  const api = new tesseract.TessBaseAPI()
  const written = new Set<string>()
  let current = ''

  function use(languages: readonly string[]) {
    const wanted = languages.join('+')
    if (wanted === current) return
    for (const language of languages) {
      if (written.has(language)) continue
      tesseract.FS.writeFile(`${language}.traineddata`, gunzipSync(readFileSync(dataFile(language))))
      written.add(language)
    }
    if (current !== '') api.End()
    if (api.Init(null, wanted, neuralNetworks) !== 0) throw new Error(`text recognition cannot use ${wanted}`)
    current = wanted
  }

  return {
    /** The words of a picture with their places, as Tesseract's table of tab-separated values. */
    readTable(image: GreyImage | EncodedImage, languages: readonly string[]): string {
      use(languages)
      const isGrey = 'pixels' in image
      tesseract.FS.writeFile(imageFile, isGrey ? portableGreyMap(image) : image.bytes)
      const orientation = isGrey ? 1 : image.orientation
      if (api.SetImageFile(orientation, 0, false) !== 0) throw new Error('text recognition cannot read the picture')
      // 0: the engine finds the resolution.
      api.SetVariable('user_defined_dpi', isGrey ? String(image.dotsPerInch) : '0')
      api.Recognize(null)
      const table = api.GetTSVText(0)
      api.Clear()
      tesseract.FS.unlink(imageFile)
      return table
    },
  }
}

function portableGreyMap({ width, height, pixels }: GreyImage): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels])
}
