import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/**
 * Builds the console from web/ into dist/console, and the hosted chat with its loader from web/visitor/ into dist/visitor. Compresses
 * every text file next to itself, so that the server sends it as it is. `npm ci` runs it with --if-possible: an installation without
 * development packages has no Vite and goes without both.
 */

const root = path.resolve(import.meta.dirname, '..')
/** In this order: the build of the loader does not empty the folder of the page. */
const configurations = ['web/vite.config.ts', 'web/visitor/vite.config.ts', 'web/visitor/loader/vite.config.ts']
const targets = ['dist/console', 'dist/visitor']
/** Smaller files do not gain from compression. */
const minimumBytes = 1024

async function build(): Promise<void> {
  // Tests set another value; React would then be its slower and larger development version.
  process.env['NODE_ENV'] = 'production'
  const { build: buildWithVite } = await import('vite')
  for (const configuration of configurations)
    await buildWithVite({ configFile: path.join(root, configuration), logLevel: 'warn' })
  for (const target of targets) await compressAll(path.join(root, target))
}

async function compressAll(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const texts = files.filter((file) => file.isFile() && /\.(?:js|mjs|css|svg|json|wasm)$/.test(file.name))
  await Promise.all(texts.map((file) => compress(path.join(file.parentPath, file.name))))
}

async function compress(file: string): Promise<void> {
  const bytes = await readFile(file)
  if (bytes.length < minimumBytes) return
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, brotli))
  await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }))
}

try {
  await build()
} catch (error) {
  const isMissing = (error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND'
  if (!isMissing || !process.argv.includes('--if-possible')) throw error
  console.log('The console is not built, because the development packages are not installed. The APIs work without it.')
}
