import { spawn } from 'node:child_process'
import path from 'node:path'
import { createServer } from 'vite'

/**
 * The console with hot reload: Vite serves web/ and passes the API to Portico, which it starts too. With PORTICO_URL it uses a
 * Portico that is already running.
 */

const root = path.resolve(import.meta.dirname, '..')
const running = process.env['PORTICO_URL']
const url = running ?? `http://127.0.0.1:${process.env['PORT'] ?? '8080'}`
if (running === undefined) {
  const portico = spawn(path.join(root, 'bin/run'), ['src/main.ts'], { cwd: root, stdio: 'inherit' })
  portico.on('exit', (code) => process.exit(code ?? 1))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => portico.kill(signal))
}
const server = await createServer({
  configFile: path.join(root, 'web/vite.config.ts'),
  server: { host: '127.0.0.1', proxy: { '/api': url, '/v1': url } },
})
await server.listen()
server.printUrls()
