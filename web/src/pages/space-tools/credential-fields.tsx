import { Stack, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ToolServerBody } from '@contract/space-tools.ts'
import { Select } from '../../ui/select.tsx'
import type { ServerDraft } from './server-draft.ts'

const kinds = ['none', 'bearer', 'header', 'basic'] as const

/** What Portico sends with each call. A stored secret is never shown. */
export function CredentialFields(props: {
  draft: ServerDraft
  onChange: (change: Partial<ServerDraft>) => void
  error: string | undefined
  stored: ToolServerBody['credential'] | undefined
}) {
  const { draft, onChange, error, stored } = props
  const { t } = useTranslation('space-tools')
  const { credential } = draft
  const options = stored ? (['keep', ...kinds] as const) : kinds
  const needsName = credential === 'header' || credential === 'basic'
  return (
    <Stack gap="xs">
      <Select
        label={t('credential.label')}
        allowDeselect={false}
        data={options.map((value) => ({ value, label: t(`credential.${value}`) }))}
        value={credential}
        error={error}
        onChange={(value) => onChange({ credential: options.find((known) => known === value) ?? 'none' })}
      />
      {needsName && (
        <TextInput
          label={t(credential === 'header' ? 'credential.headerName' : 'credential.user')}
          maxLength={200}
          autoComplete="off"
          value={draft.credentialName}
          onChange={({ currentTarget }) => onChange({ credentialName: currentTarget.value })}
        />
      )}
      {(needsName || credential === 'bearer') && (
        <TextInput
          type="password"
          label={t(credential === 'basic' ? 'credential.password' : 'credential.secret')}
          description={t('credential.hint')}
          maxLength={4_000}
          autoComplete="new-password"
          value={draft.secret}
          onChange={({ currentTarget }) => onChange({ secret: currentTarget.value })}
        />
      )}
    </Stack>
  )
}
