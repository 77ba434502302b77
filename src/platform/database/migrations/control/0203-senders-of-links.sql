-- The person who has made a link: it is valid only while the person may make it. null: the operator token, or a version before this column.
ALTER TABLE people_invitations ADD COLUMN invited_by_person uuid;
ALTER TABLE people_password_resets ADD COLUMN created_by_person uuid;
