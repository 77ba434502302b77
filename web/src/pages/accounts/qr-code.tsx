import { Box } from '@mantine/core'
import { useMemo } from 'react'
import { encode } from 'uqr'

/** Modules of white around the code, as the standard requires. */
const border = 4

/** A QR code, drawn in this browser: its text contains a secret. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => draw(text), [text])
  return (
    <Box bg="white" w={200} h={200}>
      <svg
        viewBox={`0 0 ${size} ${size}`}
        width={200}
        height={200}
        role="img"
        aria-label={label}
        shapeRendering="crispEdges"
      >
        <path d={path} fill="#000" />
      </svg>
    </Box>
  )
}

function draw(text: string): { size: number; path: string } {
  const { data, size } = encode(text, { ecc: 'M', border })
  const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return { size, path: modules.join('') }
}
