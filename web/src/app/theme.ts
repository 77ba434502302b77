import {
  createTheme,
  type CSSVariablesResolver,
  type MantineColorsTuple,
  mergeThemeOverrides,
  type TitleProps,
} from '@mantine/core'
import { titleFace } from '../ui/title-face.ts'

/** Ten shades, light to dark. White on shade 7, and shade 4 on the dark background, have a contrast above 4.5. */
const teal: MantineColorsTuple = [
  '#eef6f6',
  '#dcebeb',
  '#b5d6d7',
  '#8bc0c2',
  '#69aeb0',
  '#4f9fa2',
  '#3d8c90',
  '#2f6f73',
  '#265a5e',
  '#1b4649',
]

const theme = createTheme({
  primaryColor: 'portico',
  primaryShade: 7,
  colors: { portico: teal },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace',
  defaultRadius: 'sm',
  autoContrast: true,
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.625rem' }, h2: { fontSize: '1.125rem' }, h3: { fontSize: '1rem' } },
  },
  cursorType: 'pointer',
  components: {
    Title: { styles: (_: unknown, { order }: TitleProps) => (order === 1 ? { root: { fontFamily: titleFace } } : {}) },
    // Texts wrap in narrow cells instead of ending in an ellipsis: badges name states.
    Badge: {
      styles: {
        root: { height: 'auto', minHeight: 'var(--badge-height)' },
        label: { overflow: 'visible', overflowWrap: 'break-word', whiteSpace: 'normal' },
      },
    },
  },
})

/** `close` labels the button that closes a dialog or a notification. */
export function createLabelledTheme(close: string) {
  const defaultProps = { closeButtonProps: { 'aria-label': close } }
  return mergeThemeOverrides(
    theme,
    createTheme({ components: { Modal: { defaultProps }, Drawer: { defaultProps }, Notification: { defaultProps } } }),
  )
}

/** Secondary text and errors with a contrast above 4.5 on every background of the console; Mantine's own shades are below. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#59636b',
    '--mantine-color-error': '#c92a2a',
    // Text of light badges.
    '--mantine-color-teal-light-color': '#06634a',
    '--mantine-color-orange-light-color': '#9a3412',
    '--mantine-color-red-light-color': '#a61e1e',
  },
  dark: { '--mantine-color-dimmed': '#a6aeb4', '--mantine-color-error': '#ff8787' },
})
