package descriptor

import (
	"slices"
	"strings"
	"testing"
)

func TestSecretName(t *testing.T) {
	for _, name := range []string{"PASSWORD", "DB_PASSWORD", "PGPASSWORD", "dbPassword", "db-password", "MYSQL_PWD", "MQTT_PASS", "PASSWD",
		"SSH_PASSPHRASE", "SECRET", "CLIENT_SECRETS", "TOKEN", "AUTH_TOKENS", "GITHUB_TOKEN", "CREDENTIALS", "APIKEY", "API_KEY", "apiKey",
		"API_KEYS", "AWS_ACCESS_KEY_ID", "PRIVATE_KEY", "PRIVATEKEY", "WIFI_PSK", "DB_PASSWORD_FILE", "AUTH", "PIN"} {
		if !SecretName(name) {
			t.Errorf("SecretName(%q) = false", name)
		}
	}
	for _, name := range []string{"", "PWD", "OLDPWD", "MONKEY", "KEY", "KEYBOARD", "PATH", "PASSIVE", "COMPASS", "TOKENIZER_PATH", "AUTHOR", "SPIN",
		"PUBLIC_KEY", "LOG_LEVEL", "_"} {
		if SecretName(name) {
			t.Errorf("SecretName(%q) = true", name)
		}
	}
}

func TestNothingSecretShown(t *testing.T) {
	const secret = "hunter2"
	inputs := 0
	for _, dir := range []string{"02-full", "07-dialects", "11-decrypt", "27-secrets"} {
		files := readFiles(t, "testdata/"+dir+"/input")
		good, l := loadSet(files)
		if text := string(printFindings(t, files, l)); strings.Contains(text, secret) || strings.Contains(text, "hunter") {
			t.Errorf("%s: the secret is shown:\n%s", dir, text)
		}
		for _, c := range good {
			for _, in := range c.Inputs() {
				if strings.Contains(in.Value, secret) {
					inputs++
					if !in.Secret {
						t.Errorf("%s: %s is not secret", c.Source, in.Field)
					}
				}
			}
			for i, line := range strings.Split(string(c.SourceText), "\n") {
				if strings.Contains(line, secret) && !slices.Contains(c.SecretLines, i+1) {
					t.Errorf("%s:%d is not a secret line", c.Source, i+1)
				}
			}
		}
	}
	if inputs == 0 {
		t.Error("no secret was seen")
	}
}
