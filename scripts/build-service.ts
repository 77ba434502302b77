import fs from 'node:fs'
import path from 'node:path'
import { bundleFingerprint, bundlesFolder } from '../src/app/bundle.ts'
import { toAscii } from './service-bundle/to-ascii.ts'

/**
 * Makes the bundle of the service in dist/service that a start loads instead of its sources (src/app/bundle.ts). `npm ci` runs it with
 * --if-possible: an installation without development packages has no bundler, and the service runs from its sources.
 */

const root = path.resolve(import.meta.dirname, '..')

/**
 * Not in the bundle. Most of them are loaded on first use, from their packages; the page of the API and PGlite read files
 * of their packages.
 */
const external = [
  /^@aws-/,
  /^@electric-sql\//,
  /^@fastify\/swagger-ui$/,
  /^@huggingface\//,
  /^@hyzyla\//,
  /^@opentelemetry\//,
  /^@smithy\//,
  /^@zxcvbn-ts\//,
  /^better-auth/,
  /^google-auth-library$/,
  /^pg-native$/,
]

async function build(): Promise<void> {
  const target = path.join(bundlesFolder, bundleFingerprint())
  if (fs.existsSync(target)) return
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    cwd: root,
    input: { process: 'src/app/process.ts' },
    platform: 'node',
    external,
    plugins: [keepPlaces],
    logLevel: 'warn',
  })
  const { output } = await bundle.generate({ format: 'esm', chunkFileNames: '[name]-[hash].js' })
  const temporary = `${target}.${process.pid}`
  fs.rmSync(temporary, { recursive: true, force: true })
  fs.mkdirSync(temporary, { recursive: true })
  for (const file of output) {
    if (file.type === 'chunk') fs.writeFileSync(path.join(temporary, file.fileName), toAscii(file.code))
  }
  for (const name of fs.readdirSync(bundlesFolder)) {
    if (name !== path.basename(temporary)) fs.rmSync(path.join(bundlesFolder, name), { recursive: true, force: true })
  }
  fs.renameSync(temporary, target)
}

/** Modules find their files next to their sources, also in the bundle: threads, child processes, migrations, data. */
const keepPlaces = {
  name: 'keep-places',
  transform(code: string, id: string): string | null {
    const source = path.relative(root, id).split(path.sep).join('/')
    if (!source.startsWith('src/') || !code.includes('import.meta.')) return null
    // From dist/service/FINGERPRINT/.
    const place = `new URL('../../../${source}', import.meta.url).href`
    const folder = `process.getBuiltinModule('node:path').dirname(process.getBuiltinModule('node:url').fileURLToPath(${place}))`
    return code.replaceAll(/\bimport\.meta\.(url|dirname)\b/g, (_, name) => (name === 'url' ? place : folder))
  },
}

try {
  await build()
} catch (error) {
  const isMissing = (error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND'
  if (!isMissing || !process.argv.includes('--if-possible')) throw error
  console.log(
    'The service is not bundled, because the development packages are not installed. It starts from its sources.',
  )
}
