import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'

/** The files that pdf.js loads when a pdf needs them: character maps, standard fonts, image decoders. Their built names have a hash. */

const files = import.meta.glob<string>(
  [
    '../../../../../node_modules/pdfjs-dist/cmaps/*.bcmap',
    '../../../../../node_modules/pdfjs-dist/standard_fonts/*.{pfb,ttf}',
    '../../../../../node_modules/pdfjs-dist/wasm/*.wasm',
  ],
  { query: '?url', import: 'default', eager: true },
)
const urls = new Map(Object.entries(files).map(([path, url]) => [path.slice(path.lastIndexOf('/') + 1), url]))

export { workerUrl }

/** Loads these files for pdf.js. */
export class AssetFactory {
  async fetch({ filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    const url = urls.get(filename)
    if (url === undefined) throw new Error(`there is no ${filename}`)
    const response = await fetch(url)
    if (!response.ok) throw new Error(`${filename} could not be loaded`)
    return new Uint8Array(await response.arrayBuffer())
  }
}
