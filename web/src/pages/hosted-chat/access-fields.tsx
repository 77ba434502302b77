import { Alert, PasswordInput, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { FixedFilterFields } from '../../ui/fixed-filter.tsx'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import type { SiteDraft } from './site-draft.ts'

export interface FieldsProps {
  draft: SiteDraft
  onChange: (update: Partial<SiteDraft>) => void
  /** Messages of the server by field. */
  errors: Record<string, string>
}

/** Where the chat is, and who may open it. */
export function AccessFields({
  draft,
  onChange,
  errors,
  hasPassword,
  requiredFilter,
}: FieldsProps & { hasPassword: boolean; requiredFilter: string[] }) {
  const { t } = useTranslation('hosted-chat')
  const choices = (['everyone', 'password', 'members'] as const).map((value) => ({
    value,
    label: t(`access.${value}`),
  }))
  return (
    <Section title={t('access.title')}>
      <TextInput
        label={t('access.name')}
        description={t('access.nameHint')}
        value={draft.name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value.toLowerCase() })}
        error={errors['name']}
        leftSection={<span>/s/</span>}
        leftSectionWidth={36}
        maxLength={60}
        required
        maw={480}
      />
      <Select
        label={t('access.who')}
        description={t(`access.${draft.access}Hint`)}
        data={choices}
        value={draft.access}
        onChange={(access) => onChange({ access: (access ?? 'everyone') as SiteDraft['access'] })}
        allowDeselect={false}
        maw={480}
      />
      {draft.access === 'password' && (
        <PasswordInput
          label={t('access.password')}
          description={hasPassword ? t('access.passwordKept') : t('access.passwordHint')}
          value={draft.password}
          onChange={({ currentTarget }) => onChange({ password: currentTarget.value })}
          error={errors['password']}
          autoComplete="new-password"
          required={!hasPassword}
          maw={480}
        />
      )}
      {draft.access !== 'members' && (
        <Textarea
          label={t('access.origins')}
          description={t('access.originsHint')}
          placeholder="https://www.example.com"
          value={draft.origins}
          onChange={({ currentTarget }) => onChange({ origins: currentTarget.value })}
          error={errors['allowedOrigins']}
          autosize
          minRows={2}
          maxRows={10}
          maw={480}
        />
      )}
      {requiredFilter.length > 0 && !draft.filter && <Alert color="orange">{t('access.filterMissing')}</Alert>}
      <FixedFilterFields
        fields={requiredFilter}
        filter={draft.filter ?? null}
        onChange={(filter) => onChange({ filter })}
        hint={t('access.filterHint')}
      />
    </Section>
  )
}
