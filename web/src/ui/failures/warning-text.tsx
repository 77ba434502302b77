import { Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import type { documentWarningSchema } from '@contract/documents.ts'
import { useFormat } from '../../i18n/use-format.ts'

/** Messages of these warnings are always the same sentence; the others name what was lost or guessed. */
const withoutFacts: readonly string[] = [
  'hidden_text',
  'instruction_like_text',
  'pages_without_text',
  'recognised_text',
  'uncertain_recognition',
]
/** Page numbers that are shown of one warning. */
const shownPages = 20

/** What was lost, guessed or is suspicious in a file, and what to do about it. */
export function WarningText({ warning }: { warning: z.output<typeof documentWarningSchema> }) {
  const { t } = useTranslation('failures')
  const format = useFormat()
  const { code, message, pages = [] } = warning
  const shown = pages.slice(0, shownPages).map(format.number).join(', ')
  return (
    <Stack component="span" gap={2}>
      <Text span size="sm" fw={600}>
        {t(`warning.${code}`)}
      </Text>
      <Text span size="sm">
        {t(`warningText.${code}`)}
        {pages.length > 0 && ` ${t('warningPages', { pages: pages.length > shownPages ? `${shown} …` : shown })}`}
      </Text>
      {!withoutFacts.includes(code) && (
        <Text span size="xs" c="dimmed">
          {t('warningDetail', { message })}
        </Text>
      )}
    </Stack>
  )
}
