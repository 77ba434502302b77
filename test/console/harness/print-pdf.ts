import type { Page } from 'playwright-core'

/** A pdf that Chromium prints: one page for each HTML text. */
export async function printPdf(page: Page, pages: readonly string[]): Promise<Buffer> {
  const sections = pages.map((html) => `<section style="break-after: page">${html}</section>`).join('')
  await page.setContent(`<style>body { font: 15px serif; width: 420px; text-align: justify; hyphens: auto }</style>
    <html lang="en"><body>${sections}</body></html>`)
  return page.pdf({ format: 'A5' })
}
