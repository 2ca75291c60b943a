// SunPKCS11: keys of the token by its key store. CONFIGURATION
import java.security.Key;
import java.security.KeyStore;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;

public class Pkcs11Clients {
  public static void main(String[] arguments) throws Exception {
    Provider provider = Security.getProvider("SunPKCS11").configure(arguments[0]);
    Security.addProvider(provider);
    KeyStore store = KeyStore.getInstance("PKCS11", provider);
    store.load(null, "1234".toCharArray());
    // Java chooses nonces itself.
    Key key = store.getKey("iv", null);
    System.out.println("key: " + key.getAlgorithm() + " " + (key.getEncoded() == null));
    byte[] nonce = new byte[12];
    new SecureRandom().nextBytes(nonce);
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding", provider);
    cipher.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(128, nonce));
    cipher.updateAAD("about".getBytes());
    byte[] sealed = cipher.doFinal("attack at dawn".getBytes());
    System.out.println("sealed: " + sealed.length + " bytes");
    cipher.init(Cipher.DECRYPT_MODE, key, new GCMParameterSpec(128, nonce));
    cipher.updateAAD("about".getBytes());
    System.out.println("opened: " + new String(cipher.doFinal(sealed)));
    sealed[3] ^= 1;
    cipher.init(Cipher.DECRYPT_MODE, key, new GCMParameterSpec(128, nonce));
    cipher.updateAAD("about".getBytes());
    try {
      cipher.doFinal(sealed);
      System.out.println("a wrong tag is accepted");
    } catch (AEADBadTagException expected) {
      System.out.println("wrong tag: AEADBadTagException");
    } catch (Exception other) {
      System.out.println("wrong tag: " + other.getClass().getSimpleName());
    }
    Mac mac = Mac.getInstance("HmacSHA256", provider);
    mac.init(store.getKey("tags", null));
    System.out.println("signed: " + mac.doFinal("message".getBytes()).length);
  }
}
