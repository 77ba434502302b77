// The health check of the container image, which has no curl: exits with 0 if this instance answers the path (default /readyz) with 200.
const path = process.argv[2] ?? '/readyz'
try {
  const response = await fetch(`http://127.0.0.1:${process.env.PORT ?? 8080}${path}`, {
    signal: AbortSignal.timeout(4_000),
  })
  if (!response.ok) throw new Error(`status ${response.status}`)
} catch (error) {
  process.stderr.write(`${path}: ${error.message}\n`)
  process.exitCode = 1
}
