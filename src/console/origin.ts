/** As the browser reached this server. A proxy that ends TLS states the scheme; the text is shown to the sender of the header only. */
export function originOf({ host, headers }: { host: string; headers: Record<string, unknown> }): string {
  return `${headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${host}`
}
