import { Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { DocumentFailureCode } from '@contract/documents.ts'

/** Why a document could not be processed, and what to do about it. */
export function FailureText({ code }: { code: DocumentFailureCode }) {
  const { t } = useTranslation('failures')
  return (
    <Stack component="span" gap={4}>
      <Text span size="sm" fw={600}>
        {t(`failure.${code}`)}
      </Text>
      <Text span size="sm">
        {t(`advice.${code}`)}
      </Text>
    </Stack>
  )
}
